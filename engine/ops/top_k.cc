// TopK: the k greatest or least elements along an axis, in order, and where
// they were. k is an attribute up to operator set 9, input 1 from 10 on.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TopKParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", -1));
  if (node.opset() < 10) {
    if (!node.Has("k")) {
      return absl::InvalidArgumentError("attribute 'k' is missing");
    }
    TENSORD_ASSIGN_OR_RETURN(const int64_t k, node.Int("k", 0));
    TENSORD_RETURN_IF_ERROR(node.SetConstantInput(1, HostTensor::Int64s({k})));
    return params;
  }
  if (node.opset() >= 11) {
    TENSORD_ASSIGN_OR_RETURN(params.takes_largest, node.Bool("largest", true));
    // Sorted is one of the orders that unsorted allows.
    node.Ignore("sorted");
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNumericDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(1));
  TENSORD_ASSIGN_OR_RETURN(
      const int axis, context.NormalizeAxis(context.params<TopKParams>().axis,
                                            context.rank(0)));
  SymbolicShape y = context.shape(0);
  Dim& extent = y[axis];
  if (context.constant(1) == nullptr) {
    extent = context.DataDependentDim(context.symbols().UpperBoundOf(extent));
  } else {
    const int64_t k = ConstantIntegers(context, 1)[0];
    if (k < 0 || (extent.is_known() && k > extent.extent())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "k is ", k, " of ", context.symbols().ToString(extent), " elements"));
    }
    extent = Dim::Known(k);
  }
  context.SetOutput(0, context.dtype(0), y);
  if (context.output_count() > 1) context.SetOutput(1, DType::kInt64, y);
  return absl::OkStatus();
}

}  // namespace

OpDef TopKDef() {
  return {.op = OpKind::kTopK,
          .min_inputs = 1,
          .max_inputs = 2,
          .max_outputs = 2,
          .read = &Read,
          .required_inputs = 2,
          .infer = &Infer,
          .has_data_dependent_extents = true};
}

}  // namespace tensord
