// MeanVarianceNormalization: the input less its mean, over its standard
// deviation, both over the axes ([0, 2, 3] unless the attribute says others).

#include <vector>

#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  AxesParams params;
  params.axes = {0, 2, 3};
  if (node.Has("axes")) {
    TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                             node.Ints("axes"));
    params.axes.assign(axes.begin(), axes.end());
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(
      MarkAxes(context, context.params<AxesParams>().axes, context.rank(0))
          .status());
  context.SetOutput(0, context.dtype(0), context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef MeanVarianceNormalizationDef() {
  return {.op = OpKind::kMeanVarianceNormalization,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
