// DeformConv: a convolution whose taps are moved by offsets. Inputs: x [N, C,
// D...], w [M, C / group, K...], offset [N, offset groups * taps * dimensions,
// O...], optional bias [M], optional mask [N, offset groups * taps, O...];
// output [N, M, O...].

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/conv_rules.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/op_def.h"
#include "engine/ops/window_rules.h"

namespace tensord {
namespace {

constexpr int kOffset = 2;
constexpr ConvInputs kInputs = {.x = 0, .w = 1, .bias = 3};
constexpr int kMask = 4;

absl::StatusOr<int64_t> ReadGroups(NodeReader& node, absl::string_view name) {
  TENSORD_ASSIGN_OR_RETURN(const int64_t groups, node.Int(name, 1));
  if (groups >= 1 && groups <= kMaxWindowNumber) return groups;
  return absl::InvalidArgumentError(absl::StrCat("attribute '", name, "' is ",
                                                 groups, ", outside [1, ",
                                                 kMaxWindowNumber, "]"));
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  DeformConvParams params;
  ConvParams& conv = params.conv;
  TENSORD_ASSIGN_OR_RETURN(conv.kernel_shape,
                           ReadWindowNumbers(node, "kernel_shape", 1));
  TENSORD_ASSIGN_OR_RETURN(conv.strides, ReadWindowNumbers(node, "strides", 1));
  TENSORD_ASSIGN_OR_RETURN(conv.dilations,
                           ReadWindowNumbers(node, "dilations", 1));
  TENSORD_ASSIGN_OR_RETURN(conv.pads, ReadWindowNumbers(node, "pads", 0));
  TENSORD_ASSIGN_OR_RETURN(conv.group, ReadGroups(node, "group"));
  TENSORD_ASSIGN_OR_RETURN(params.offset_group,
                           ReadGroups(node, "offset_group"));
  return params;
}

// [N, offset groups * taps * `each`, O...], for the output y.
absl::Status CheckPerTap(InferContext& context, int i, absl::string_view name,
                         int64_t each, const SymbolicShape& y) {
  const auto& params = context.params<DeformConvParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kInputs.x, i));
  const int rank = static_cast<int>(y.size());
  TENSORD_RETURN_IF_ERROR(context.CheckRank(i, rank, rank));
  SymbolTable& symbols = context.symbols();
  SymbolicShape expected = y;
  expected[1] = Dim::Known(params.offset_group);
  for (int d = 2; d < rank; ++d) {
    expected[1] = symbols.Multiply(expected[1], context.shape(kInputs.w)[d]);
  }
  expected[1] = symbols.Multiply(expected[1], Dim::Known(each));
  for (int d = 0; d < rank; ++d) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("dimension ", d, " of the ", name, " should be"),
        expected[d], context.shape(i)[d]));
  }
  return absl::OkStatus();
}

absl::Status Infer(InferContext& context) {
  const auto& params = context.params<DeformConvParams>();
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kInputs.x, kFloatDTypes));
  for (int i : {kInputs.w, kInputs.bias}) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(kInputs.x, i));
  }
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y,
                           InferConvShape(context, params.conv, kInputs));
  const Dim channels = context.shape(kInputs.x)[1];
  if (channels.is_known() && channels.extent() % params.offset_group != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(channels.extent(), " channels do not divide into ",
                     params.offset_group, " offset groups"));
  }
  const auto spatial_rank = static_cast<int64_t>(y.size()) - 2;
  TENSORD_RETURN_IF_ERROR(
      CheckPerTap(context, kOffset, "offset", spatial_rank, y));
  if (context.has_input(kMask)) {
    TENSORD_RETURN_IF_ERROR(CheckPerTap(context, kMask, "mask", 1, y));
  }
  context.SetOutput(0, context.dtype(kInputs.x), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef DeformConvDef() {
  return {.op = OpKind::kDeformConv,
          .min_inputs = 3,
          .max_inputs = 5,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
