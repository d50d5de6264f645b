#include "tools/tensordctl/data_set.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/run_inputs.h"

namespace tensord::ctl {

absl::StatusOr<DataSet> ReadDataSet(const std::string& folder,
                                    const v1::GraphInfo& graph) {
  DataSet set;
  set.name = std::string(absl::StripSuffix(folder, "/"));
  for (int i = 0; i < graph.inputs_size(); ++i) {
    auto tensor = ReadTensorFile(absl::StrCat(set.name, "/input_", i, ".pb"),
                                 graph.inputs(i).dtype());
    if (!tensor.ok()) return tensor.status();
    v1::ExecuteInput& input = set.inputs.emplace_back();
    input.set_name(graph.inputs(i).name());
    *input.mutable_tensor() = *std::move(tensor);
  }
  for (int i = 0; i < graph.outputs_size(); ++i) {
    const std::string path = absl::StrCat(set.name, "/output_", i, ".pb");
    if (i > 0 && !IsFile(path)) break;
    auto tensor = ReadTensorFile(path, graph.outputs(i).dtype());
    if (!tensor.ok()) return tensor.status();
    set.outputs.push_back(*std::move(tensor));
  }
  return set;
}

}  // namespace tensord::ctl
