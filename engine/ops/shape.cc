// Shape: the extents [start, end) of the input as an int64 vector. No kernel is
// needed where they are all known.

#include <algorithm>

#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  ShapeParams params;
  if (node.opset() >= 15) {
    TENSORD_ASSIGN_OR_RETURN(params.start, node.Int("start", params.start));
    TENSORD_ASSIGN_OR_RETURN(params.end, node.Int("end", params.end));
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  const ShapeParams& params = context.params<ShapeParams>();
  const int64_t rank = context.rank(0);
  const auto clamped = [rank](int64_t bound) {
    return std::clamp<int64_t>(bound < 0 ? bound + rank : bound, 0, rank);
  };
  const int64_t start = clamped(params.start);
  const int64_t end = std::max(start, clamped(params.end));
  std::vector<int64_t> extents;
  for (int64_t d = start; d < end; ++d) {
    const Dim dim = context.shape(0)[d];
    if (!dim.is_known()) {
      context.SetOutput(0, DType::kInt64, {Dim::Known(end - start)});
      return absl::OkStatus();
    }
    extents.push_back(dim.extent());
  }
  context.SetOutputConstant(0, HostTensor::Int64s(extents));
  return absl::OkStatus();
}

}  // namespace

OpDef ShapeDef() {
  return {.op = OpKind::kShape,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
