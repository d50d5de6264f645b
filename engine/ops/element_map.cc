#include "engine/ops/element_map.h"

#include "absl/types/span.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/dtype_sets.h"

namespace tensord {
namespace {

absl::Status InferMap(InferContext& context, absl::Span<const DType> allowed) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, allowed));
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

absl::Status InferFloatMap(InferContext& context) {
  return InferMap(context, kFloatDTypes);
}

absl::Status InferSignedMap(InferContext& context) {
  return InferMap(context, kSignedDTypes);
}

absl::Status InferNumericMap(InferContext& context) {
  return InferMap(context, kNumericDTypes);
}

void IgnoreConsumedInputs(NodeReader& node) {
  if (node.opset() < 6) node.Ignore("consumed_inputs");
}

absl::StatusOr<OpParams> ReadConsumedInputs(NodeReader& node) {
  IgnoreConsumedInputs(node);
  return NoParams{};
}

OpDef ElementMapDef(OpKind op, absl::Status (*infer)(InferContext&),
                    absl::StatusOr<OpParams> (*read)(NodeReader&)) {
  return {
      .op = op, .min_inputs = 1, .max_inputs = 1, .read = read, .infer = infer};
}

}  // namespace tensord
