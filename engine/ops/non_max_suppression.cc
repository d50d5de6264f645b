// NonMaxSuppression: boxes of each class by falling score, without those that
// overlap one that was taken. Inputs: boxes [batch, boxes, 4], scores [batch,
// classes, boxes], then optional scalars: the most boxes for a class, the
// overlap above which a box goes, the score that a box must be above.

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kFloat32Only[] = {DType::kFloat32};
constexpr int kMostBoxes = 2;

absl::StatusOr<OpParams> Read(NodeReader& node) {
  NonMaxSuppressionParams params;
  TENSORD_ASSIGN_OR_RETURN(params.has_centres,
                           node.Bool("center_point_box", false));
  return params;
}

absl::Status Infer(InferContext& context) {
  for (int i : {0, 1}) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kFloat32Only));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 3, 3));
  }
  for (int i = kMostBoxes; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (i == kMostBoxes) {
      TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kInt64Only));
    } else {
      TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kFloat32Only));
    }
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(i));
  }
  const SymbolicShape& boxes = context.shape(0);
  const SymbolicShape& scores = context.shape(1);
  TENSORD_RETURN_IF_ERROR(
      context.CheckSameDim("batches:", boxes[0], scores[0]));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "number of boxes and of scores:", boxes[1], scores[2]));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim("numbers of a box should be",
                                               Dim::Known(4), boxes[2]));
  SymbolTable& symbols = context.symbols();
  Dim most = boxes[1];
  if (!context.has_input(kMostBoxes)) {
    most = Dim::Known(0);
  } else if (context.constant(kMostBoxes) != nullptr) {
    const int64_t given =
        std::max<int64_t>(0, ConstantIntegers(context, kMostBoxes)[0]);
    if (!most.is_known() || given < most.extent()) most = Dim::Known(given);
  }
  const Dim selected =
      symbols.Multiply(symbols.Multiply(scores[0], scores[1]), most);
  context.SetOutput(0, DType::kInt64,
                    {context.DataDependentDim(symbols.UpperBoundOf(selected)),
                     Dim::Known(3)});
  return absl::OkStatus();
}

}  // namespace

OpDef NonMaxSuppressionDef() {
  return {.op = OpKind::kNonMaxSuppression,
          .min_inputs = 2,
          .max_inputs = 5,
          .read = &Read,
          .infer = &Infer,
          .has_data_dependent_extents = true};
}

}  // namespace tensord
