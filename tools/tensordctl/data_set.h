#ifndef TENSORD_TOOLS_TENSORDCTL_DATA_SET_H_
#define TENSORD_TOOLS_TENSORDCTL_DATA_SET_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord::ctl {

// One folder of ONNX's backend tests: input_I.pb and output_I.pb, with I
// counting the graph's inputs and outputs in their order.
struct DataSet {
  std::string name;  // the folder, for messages
  std::vector<v1::ExecuteInput> inputs;
  std::vector<v1::Tensor> outputs;
};

// LocalError() with the path of a file that is missing or wrong. A set may have
// fewer outputs than the graph, but not none.
absl::StatusOr<DataSet> ReadDataSet(const std::string& folder,
                                    const v1::GraphInfo& graph);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_DATA_SET_H_
