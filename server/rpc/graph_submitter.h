#ifndef TENSORD_SERVER_RPC_GRAPH_SUBMITTER_H_
#define TENSORD_SERVER_RPC_GRAPH_SUBMITTER_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/rpc/graph_facts.h"
#include "server/rpc/graph_id.h"
#include "server/rpc/service_environment.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// A received graph on its way into the engine; the same for SubmitGraph and
// UploadGraph.
//
// Threading: thread-safe. Ownership: borrows the environment.
class GraphSubmitter {
 public:
  struct Received {
    v1::GraphFormat format = v1::GRAPH_FORMAT_UNSPECIFIED;
    std::string bytes;
    Sha256Digest digest;  // of the bytes
    v1::CompileOptions options;
    std::string principal;
    HostMemoryBudget::Lease memory;  // Submit() fills it
  };

  using Done =
      absl::AnyInvocable<void(absl::StatusOr<v1::SubmitGraphResponse>)>;

  explicit GraphSubmitter(const ServiceEnvironment& environment)
      : environment_(environment) {}

  // kInvalidArgument for options out of range, kNotFound for a device that is
  // not there: before any byte of the graph is looked at.
  absl::Status CheckOptions(const v1::CompileOptions& options) const;

  // `done` is called once, on a compiler's thread or inside the call, also when
  // the client has gone.
  void Submit(Received received, Done done);

  // The answer for a graph that the principal holds already; kNotFound
  // otherwise.
  absl::StatusOr<v1::SubmitGraphResponse> FindHeld(const std::string& id,
                                                   absl::string_view principal);

  GraphFactsTable& facts() { return facts_; }

 private:
  // Compiles for the hints, when there are any, and answers.
  void CompileForHints(Engine::SubmitOutcome outcome,
                       std::shared_ptr<const Received> received, Done done);
  v1::SubmitGraphResponse ResponseFor(const Engine::SubmitOutcome& outcome);

  const ServiceEnvironment& environment_;
  GraphFactsTable facts_;
};

// What the engine takes of the API's options.
CompileOptions ToEngineOptions(const v1::CompileOptions& options);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRAPH_SUBMITTER_H_
