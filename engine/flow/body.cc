#include "engine/flow/body.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord {
absl::StatusOr<std::vector<FlowValue>> RunBody(FlowNode& node, int body,
                                               std::vector<FlowValue> inputs) {
  const size_t own_count = inputs.size();
  const absl::Span<const FlowValue> captured = node.captured(body);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  FlowProgram& program = node.program.Body(node.node_id, body);
  const size_t expected = program.graph().inputs.size();
  if (inputs.size() != expected) {
    return absl::InvalidArgumentError(
        absl::StrCat("its body takes ", expected - captured.size(),
                     " inputs and would get ", own_count));
  }
  return program.Run(node.run, std::move(inputs));
}

std::vector<TensorType> BodyOutputTypes(FlowNode& node,
                                        std::vector<TensorType> inputs,
                                        size_t skipped) {
  for (const FlowValue& captured : node.captured(0)) {
    inputs.push_back(TypeOf(captured));
  }
  std::vector<TensorType> types =
      node.program.Body(node.node_id, 0).OutputTypes(inputs);
  types.erase(types.begin(), types.begin() + static_cast<int64_t>(skipped));
  return types;
}

TensorType TypeOf(const FlowValue& value) {
  if (!value.is_tensor()) return {};
  return {value.tensor->dtype(), ToSymbolic(value.tensor->shape())};
}

absl::Status CheckOutputCount(const FlowNode& node, size_t made) {
  if (node.node.outputs.size() <= made) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("it has ", node.node.outputs.size(),
                   " outputs and its body gives ", made));
}

}  // namespace tensord
