#ifndef TENSORD_SERVER_RPC_EXECUTE_REQUEST_H_
#define TENSORD_SERVER_RPC_EXECUTE_REQUEST_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/exec/execution.h"
#include "server/rpc/graph_facts.h"
#include "server/rpc/message_io.h"
#include "server/rpc/service_environment.h"
#include "server/wire/execute_decoder.h"

namespace tensord {

// A received ExecuteRequest on its way into an Execution: finds the graph, puts
// inputs into the graph's order, and notes which outputs are wanted. Used again
// for the next request, so that its strings and vectors keep their capacity.
//
// Threading: one thread. Ownership: borrows environment and facts.
class ExecuteRequestReader {
 public:
  ExecuteRequestReader(const ServiceEnvironment& environment,
                       GraphFactsTable& facts);

  // Fills graph, inputs, device and trace of `execution`. The bytes are not
  // needed afterwards, whatever it returns.
  // Errors: as ExecuteRequest says; the request then has no effect.
  absl::Status Read(const grpc::ByteBuffer& request,
                    absl::string_view principal, Execution& execution);

  // Indices of the outputs to return, in the order asked for; none: all.
  const absl::InlinedVector<size_t, 4>& wanted() const { return wanted_; }

 private:
  absl::Status ReadMessage(absl::string_view principal, Execution& execution);
  absl::Status FindGraph(absl::string_view principal, Execution& execution);
  // Before any input is read, so that a message full of them allocates nothing.
  absl::Status CheckCounts(const Graph& graph) const;
  absl::Status TakeOutput(const Graph& graph, const DecodedOutput& output);
  absl::Status TakeInput(DecodedInput& input, Execution& execution);
  // The graph's number of inputs when there is none of that name.
  size_t FindInput(const Graph& graph, absl::string_view name);
  absl::Status CheckAllInputs(const Graph& graph) const;
  void NoteUse() const;

  const ServiceEnvironment& environment_;
  GraphFactsTable& facts_;
  BufferSegments segments_;
  ExecuteHead head_;
  ExecuteBodyDecoder decoder_;
  absl::InlinedVector<size_t, 4> wanted_;
  absl::InlinedVector<bool, 8> is_given_;
  size_t next_input_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_REQUEST_H_
