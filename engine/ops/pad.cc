// Pad: elements added before and after the input in each dimension, or taken
// away where a pad is negative. Inputs: data, pads (the begins, then the ends),
// optional value, optional axes that the pads are for. Up to operator set 10,
// pads and value are attributes.

#include <cstring>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kPads = 1;
constexpr int kValue = 2;
constexpr int kAxes = 3;

absl::StatusOr<PadMode> ReadMode(NodeReader& node) {
  TENSORD_ASSIGN_OR_RETURN(const std::string mode,
                           node.String("mode", "constant"));
  if (mode == "constant") return PadMode::kConstant;
  if (mode == "reflect") return PadMode::kReflect;
  if (mode == "edge") return PadMode::kEdge;
  if (mode == "wrap" && node.opset() >= 19) return PadMode::kWrap;
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'mode' is not constant, reflect or edge",
                   node.opset() >= 19 ? " or wrap" : ""));
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  PadParams params;
  TENSORD_ASSIGN_OR_RETURN(params.mode, ReadMode(node));
  if (node.opset() > 10) {
    if (node.opset() < 18 && node.input_count() > kAxes) {
      return absl::InvalidArgumentError(
          "input 3 (axes) is allowed from operator set 18 on");
    }
    return params;
  }
  if (!node.Has("pads")) {
    return absl::InvalidArgumentError("attribute 'pads' is missing");
  }
  TENSORD_RETURN_IF_ERROR(MoveIntsToInput(node, "pads", 10, kPads));
  TENSORD_ASSIGN_OR_RETURN(const float value, node.Float("value", 0.0f));
  // A constant of float32 would not go with other data; 0 needs none.
  if (value != 0) {
    TENSORD_RETURN_IF_ERROR(node.SetConstantInput(
        kValue, HostTensor::Make(DType::kFloat32, {}, [value](auto bytes) {
          std::memcpy(bytes.data(), &value, sizeof(value));
        })));
  }
  return params;
}

absl::Status CheckOperands(const InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(kPads, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(kPads, 1, 1));
  if (context.has_input(kValue)) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, kValue));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kValue, 0, 1));
    if (context.rank(kValue) == 1) {
      TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
          "extent of the value vs", context.shape(kValue)[0], Dim::Known(1)));
    }
  }
  if (context.has_input(kAxes)) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(kAxes, kIndexDTypes));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(kAxes, 1, 1));
  }
  return absl::OkStatus();
}

absl::StatusOr<Dim> PaddedDim(InferContext& context, int d, int64_t begin,
                              int64_t end) {
  const Dim extent = context.shape(0)[d];
  const auto is_far = [](int64_t pad) {
    return pad < -kMaxElementCount || pad > kMaxElementCount;
  };
  if (is_far(begin) || is_far(end)) {
    return absl::InvalidArgumentError(
        absl::StrCat("dimension ", d, ": pads ", begin, " and ", end,
                     " are past ", kMaxElementCount));
  }
  const Dim padded = context.symbols().Add(extent, Dim::Known(begin + end));
  if (!extent.is_known()) return padded;
  if (padded.extent() < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("dimension ", d, ": pads ", begin, " and ", end,
                     " take more than its extent ", extent.extent()));
  }
  const bool copies = context.params<PadParams>().mode != PadMode::kConstant;
  if (copies && extent.extent() == 0 && padded.extent() > 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("dimension ", d, " has extent 0: nothing to repeat"));
  }
  return padded;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(CheckOperands(context));
  const int rank = context.rank(0);
  for (int i : {kPads, kAxes}) {
    if (context.has_input(i) && context.constant(i) == nullptr) {
      return context.NeedsValue(i);
    }
  }
  std::vector<int64_t> axes;
  if (context.has_input(kAxes)) {
    axes = ConstantIntegers(context, kAxes);
  } else {
    for (int d = 0; d < rank; ++d) axes.push_back(d);
  }
  const std::vector<int64_t> pads = ConstantIntegers(context, kPads);
  if (pads.size() != 2 * axes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        pads.size(), " pads for ", axes.size(), " axes, not 2 for each"));
  }
  TENSORD_RETURN_IF_ERROR(MarkAxes(context, axes, rank).status());
  SymbolicShape y = context.shape(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = static_cast<int>(axes[i] < 0 ? axes[i] + rank : axes[i]);
    TENSORD_ASSIGN_OR_RETURN(
        y[d], PaddedDim(context, d, pads[i], pads[i + axes.size()]));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef PadDef() {
  return {.op = OpKind::kPad,
          .min_inputs = 1,
          .max_inputs = 4,
          .read = &Read,
          .required_inputs = kPads + 1,
          .infer = &Infer};
}

}  // namespace tensord
