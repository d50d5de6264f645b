// CenterCropPad: the middle of the input, or the input in the middle of zeros,
// so that the axes (all without the attribute) get the extents of input 1.

#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, node.Ints("axes"));
  AxesParams params;
  params.axes.assign(axes.begin(), axes.end());
  return params;
}

absl::Status Infer(InferContext& context) {
  const int rank = context.rank(0);
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  Dims axes = context.params<AxesParams>().axes;
  TENSORD_RETURN_IF_ERROR(MarkAxes(context, axes, rank).status());
  if (axes.empty()) {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "number of extents and of axes:", context.shape(1)[0],
      Dim::Known(static_cast<int64_t>(axes.size()))));
  if (context.constant(1) == nullptr) return context.NeedsValue(1);
  const std::vector<int64_t> extents = ConstantIntegers(context, 1);
  SymbolicShape y = context.shape(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    if (extents[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("extent ", i, " is ", extents[i], ", below 0"));
    }
    y[axes[i] < 0 ? axes[i] + rank : axes[i]] = Dim::Known(extents[i]);
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef CenterCropPadDef() {
  return {.op = OpKind::kCenterCropPad,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
