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
#include "server/rpc/run_plan.h"
#include "server/rpc/service_environment.h"
#include "server/wire/execute_decoder.h"

namespace tensord {

// A received ExecuteRequest on its way into an Execution: finds the graph, puts
// inputs into the graph's order, and notes in the plan what is not the
// engine's: inputs by handle are still missing afterwards. Used again for the
// next request, so that its strings and vectors keep their capacity.
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
  // The same for a message within another, whose size is checked.
  absl::Status Read(WireReader request, absl::string_view principal,
                    Execution& execution);

  const RunPlan& plan() const { return plan_; }
  RunPlan& plan() { return plan_; }
  const std::string& graph_id() const { return head_.graph_id; }

 private:
  absl::Status FindGraph(absl::string_view principal, Execution& execution);
  // Before any input is read, so that a message full of them allocates nothing.
  absl::Status CheckCounts(const Graph& graph) const;
  absl::Status TakeOutput(const Graph& graph, const DecodedOutput& output);
  absl::Status TakeInput(DecodedInput& input, Execution& execution);
  // The graph's number of inputs when there is none of that name.
  size_t FindInput(const Graph& graph, absl::string_view name);
  absl::Status CheckAllInputs(const Graph& graph) const;
  // Each reused input is donated, and to one output.
  absl::Status CheckReuse(const Graph& graph) const;
  void NoteUse() const;

  const ServiceEnvironment& environment_;
  GraphFactsTable& facts_;
  BufferSegments segments_;
  ExecuteHead head_;
  ExecuteBodyDecoder decoder_;
  RunPlan plan_;
  absl::InlinedVector<bool, 8> is_given_;
  size_t next_input_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_REQUEST_H_
