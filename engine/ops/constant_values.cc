#include "engine/ops/constant_values.h"

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"

namespace tensord {

std::vector<int64_t> ConstantIntegers(const InferContext& context, int i) {
  const HostTensor& tensor = *context.constant(i);
  if (tensor.dtype() == DType::kInt32) {
    const absl::Span<const int32_t> values = tensor.values<int32_t>();
    return {values.begin(), values.end()};
  }
  const absl::Span<const int64_t> values = tensor.values<int64_t>();
  return {values.begin(), values.end()};
}

absl::Status MoveIntsToInput(NodeReader& node, absl::string_view name,
                             int64_t last_attribute_opset, int index) {
  if (node.opset() > last_attribute_opset) return absl::OkStatus();
  if (!node.Has(name)) return absl::OkStatus();
  TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> values, node.Ints(name));
  return node.SetConstantInput(index, HostTensor::Int64s(values));
}

absl::StatusOr<std::vector<bool>> MarkAxes(const InferContext& context,
                                           absl::Span<const int64_t> axes,
                                           int rank) {
  std::vector<bool> marked(rank, false);
  for (int64_t given : axes) {
    TENSORD_ASSIGN_OR_RETURN(const int axis,
                             context.NormalizeAxis(given, rank));
    if (marked[axis]) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " is given twice"));
    }
    marked[axis] = true;
  }
  return marked;
}

}  // namespace tensord
