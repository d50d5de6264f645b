#ifndef TENSORD_ENGINE_OPS_CONSTANT_VALUES_H_
#define TENSORD_ENGINE_OPS_CONSTANT_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"

namespace tensord {

// Small integer inputs that shape rules read: shapes, axes, pads.
// Threading and ownership: pure functions.

inline constexpr DType kInt64Only[] = {DType::kInt64};
inline constexpr DType kIndexDTypes[] = {DType::kInt32, DType::kInt64};

// The elements of input i, which is known (context.constant(i) is not null) and
// of one of kIndexDTypes.
std::vector<int64_t> ConstantIntegers(const InferContext& context, int i);

// Where an attribute became an input: input `index` gets the attribute's
// integers as a constant, if it is there. `last_attribute_opset` is the last
// operator set that has the attribute; from then on it is left unread.
absl::Status MoveIntsToInput(NodeReader& node, absl::string_view name,
                             int64_t last_attribute_opset, int index);

// `axes` brought to [0, rank) and marked; kInvalidArgument for one out of range
// or given twice.
absl::StatusOr<std::vector<bool>> MarkAxes(const InferContext& context,
                                           absl::Span<const int64_t> axes,
                                           int rank);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_CONSTANT_VALUES_H_
