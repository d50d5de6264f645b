#ifndef TENSORD_TOOLS_TENSORDCTL_REQUEST_OPTIONS_H_
#define TENSORD_TOOLS_TENSORDCTL_REQUEST_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/cpp/client.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tensord::ctl {

// What to run and how: the options that run, start and bench share.
struct RequestOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> symbols;
  uint64_t seed = 1;
  std::vector<std::string> kept_outputs;
  std::string device;
  std::string session;
  std::string priority = "normal";
  std::string queue_timeout;  // as ParseTime() reads them; empty: not told
  std::string execution_timeout;
};

// Asks for the launches of the run, as many as are worth showing, with the
// device's own times where it has them.
void AskForTrace(v1::ExecuteRequest& request);

// Adds them to a command. Returns --input, which others may exclude.
CLI::Option* AddRequestOptions(CLI::App& command, RequestOptions& options);

// A request without inputs: graph, options, and the outputs that are kept.
absl::StatusOr<v1::ExecuteRequest> RequestFor(const v1::GraphInfo& graph,
                                              const RequestOptions& options);

// The same with the inputs from where the options say. LocalError() for what is
// wrong with them.
absl::StatusOr<v1::ExecuteRequest> RequestWithInputs(
    const v1::GraphInfo& graph, const RequestOptions& options);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_REQUEST_OPTIONS_H_
