// Clip: y = min(max(x, low), high). Inputs: x, optional low, optional high,
// each one element. Up to operator set 10 the bounds are attributes.

#include <cstring>

#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_list.h"

namespace tensord {
namespace {

absl::Status MoveToInput(NodeReader& node, absl::string_view name, int index) {
  if (!node.Has(name)) return absl::OkStatus();
  TENSORD_ASSIGN_OR_RETURN(const float bound, node.Float(name, 0.0f));
  return node.SetConstantInput(
      index, HostTensor::Make(DType::kFloat32, {}, [bound](auto bytes) {
        std::memcpy(bytes.data(), &bound, sizeof(bound));
      }));
}

// The attributes are float32 whatever x is; other float types with them are
// refused by their dtypes.
absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (node.opset() <= 10) {
    TENSORD_RETURN_IF_ERROR(MoveToInput(node, "min", 1));
    TENSORD_RETURN_IF_ERROR(MoveToInput(node, "max", 2));
  }
  return NoParams{};
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNumericDTypes));
  for (int i : {1, 2}) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 0, 1));
    if (context.rank(i) == 1) {
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          "extent of a bound vs", context.shape(i)[0], Dim::Known(1)));
    }
  }
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef ClipDef() {
  return {.op = OpKind::kClip,
          .min_inputs = 1,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
