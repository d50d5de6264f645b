#ifndef TENSORD_TOOLS_TENSORDCTL_RUN_INPUTS_H_
#define TENSORD_TOOLS_TENSORDCTL_RUN_INPUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"
#include "tools/tensordctl/shapes.h"

namespace tensord::ctl {

// Where the inputs of a run come from.
struct InputSources {
  // Each "NAME=SOURCE", with SOURCE a file (.npy, .pb, .json), "random" or
  // "random:1x3x8x8", or the handle of a tensor on a device, "tensor:ID", or
  // "donate:ID" if the run may write over it; or "random" alone, for every
  // input that is not named.
  std::vector<std::string> inputs;
  Symbols symbols;
  uint64_t seed = 1;
};

// Reads the file of one input, by its ending. LocalError() with the path.
absl::StatusOr<v1::Tensor> ReadTensorFile(const std::string& path,
                                          v1::DType dtype);

// One input for each of the graph's. LocalError() names what is missing,
// unknown, or given twice. That tensors fit the graph is the daemon's to say.
absl::StatusOr<std::vector<v1::ExecuteInput>> MakeInputs(
    const InputSources& sources, const v1::GraphInfo& graph);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_RUN_INPUTS_H_
