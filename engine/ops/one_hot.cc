// OneHot: a new dimension of `depth` elements, all of them the off value but
// for the on value at each index. Inputs: indices, depth, [off, on].

#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kOneHotIndexDTypes[] = {DType::kInt32, DType::kInt64,
                                        DType::kFloat32, DType::kFloat16};

absl::StatusOr<OpParams> Read(NodeReader& node) {
  AxisParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", -1));
  return params;
}

absl::StatusOr<int64_t> DepthOf(const HostTensor& depth) {
  double value = 0;
  if (depth.dtype() == DType::kFloat32) {
    value = std::trunc(depth.values<float>()[0]);
  } else if (depth.dtype() == DType::kFloat16) {
    value = std::trunc(depth.values<Float16>()[0]);
  } else if (depth.dtype() == DType::kInt32) {
    value = depth.values<int32_t>()[0];
  } else {
    value = static_cast<double>(depth.values<int64_t>()[0]);
  }
  if (value >= 0 && value <= static_cast<double>(kMaxElementCount)) {
    return static_cast<int64_t>(value);
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "depth is ", value, ", outside [0, ", kMaxElementCount, "]"));
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kOneHotIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kOneHotIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(1));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(2, 1, 1));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "number of values should be", Dim::Known(2), context.shape(2)[0]));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 0, kMaxRank - 1));
  TENSORD_ASSIGN_OR_RETURN(
      const int axis, context.NormalizeAxis(context.params<AxisParams>().axis,
                                            context.rank(0) + 1));
  if (context.constant(1) == nullptr) return context.NeedsValue(1);
  TENSORD_ASSIGN_OR_RETURN(const int64_t depth, DepthOf(*context.constant(1)));
  SymbolicShape y = context.shape(0);
  y.insert(y.begin() + axis, Dim::Known(depth));
  context.SetOutput(0, context.dtype(2), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef OneHotDef() {
  return {.op = OpKind::kOneHot,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
