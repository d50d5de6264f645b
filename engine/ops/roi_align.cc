// RoiAlign: each region of x [N, C, H, W] brought to one size by sampling.
// Inputs: x, rois [R, 4] (x1, y1, x2, y2), batch_indices [R] (int64); output
// [R, C, output_height, output_width].

#include <string>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

// Their square is the work for one output, so that it must not be any number.
constexpr int64_t kMaxSamplingRatio = 64;

absl::StatusOr<int64_t> ReadNumber(NodeReader& node, absl::string_view name,
                                   int64_t absent, int64_t low, int64_t high) {
  TENSORD_ASSIGN_OR_RETURN(const int64_t value, node.Int(name, absent));
  if (value >= low && value <= high) return value;
  return absl::InvalidArgumentError(absl::StrCat("attribute '", name, "' is ",
                                                 value, ", outside [", low,
                                                 ", ", high, "]"));
}

// True for `yes`, false for `no`.
absl::StatusOr<bool> ReadWord(NodeReader& node, absl::string_view name,
                              absl::string_view absent, absl::string_view yes,
                              absl::string_view no) {
  TENSORD_ASSIGN_OR_RETURN(const std::string word, node.String(name, absent));
  if (word == yes) return true;
  if (word == no) return false;
  return absl::InvalidArgumentError(absl::StrCat(
      "attribute '", name, "' is ", Quoted(word), ", not ", yes, " or ", no));
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  RoiAlignParams params;
  TENSORD_ASSIGN_OR_RETURN(params.takes_max,
                           ReadWord(node, "mode", "avg", "max", "avg"));
  TENSORD_ASSIGN_OR_RETURN(
      params.output_height,
      ReadNumber(node, "output_height", 1, 1, kMaxElementCount));
  TENSORD_ASSIGN_OR_RETURN(
      params.output_width,
      ReadNumber(node, "output_width", 1, 1, kMaxElementCount));
  TENSORD_ASSIGN_OR_RETURN(
      params.sampling_ratio,
      ReadNumber(node, "sampling_ratio", 0, 0, kMaxSamplingRatio));
  TENSORD_ASSIGN_OR_RETURN(params.spatial_scale,
                           node.Float("spatial_scale", 1.0f));
  // Version 10 knew no shift.
  params.is_half_pixel = false;
  if (node.opset() >= 16) {
    TENSORD_ASSIGN_OR_RETURN(
        params.is_half_pixel,
        ReadWord(node, "coordinate_transformation_mode", "half_pixel",
                 "half_pixel", "output_half_pixel"));
  }
  return params;
}

absl::Status Infer(InferContext& context) {
  const auto& params = context.params<RoiAlignParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  TENSORD_RETURN_IF_ERROR(context.CheckDType(2, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 4, 4));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 2, 2));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(2, 1, 1));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "numbers of a region should be", Dim::Known(4), context.shape(1)[1]));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
      "number of regions and of batch indices:", context.shape(1)[0],
      context.shape(2)[0]));
  context.SetOutput(
      0, context.dtype(0),
      {context.shape(1)[0], context.shape(0)[1],
       Dim::Known(params.output_height), Dim::Known(params.output_width)});
  return absl::OkStatus();
}

}  // namespace

OpDef RoiAlignDef() {
  return {.op = OpKind::kRoiAlign,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
