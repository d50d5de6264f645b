// Squeeze takes dimensions of extent 1 away, Unsqueeze puts some in. Up to
// operator set 12 the axes are an attribute, from 13 on input 1.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int64_t kLastAttributeOpset = 12;

absl::StatusOr<OpParams> ReadSqueeze(NodeReader& node) {
  TENSORD_RETURN_IF_ERROR(
      MoveIntsToInput(node, "axes", kLastAttributeOpset, 1));
  return NoParams{};
}

absl::StatusOr<OpParams> ReadUnsqueeze(NodeReader& node) {
  if (node.opset() <= kLastAttributeOpset && !node.Has("axes")) {
    return absl::InvalidArgumentError("attribute 'axes' is missing");
  }
  return ReadSqueeze(node);
}

absl::Status CheckAxesInput(const InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  return context.CheckRank(1, 0, 1);
}

// Without axes, every dimension of extent 1 goes. A symbol may be 1, so the
// rank is not known while there is one.
absl::Status SqueezeAll(InferContext& context) {
  SymbolicShape y;
  for (Dim dim : context.shape(0)) {
    if (!dim.is_known()) return context.NeedsValue(0);
    if (dim.extent() != 1) y.push_back(dim);
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

absl::Status InferSqueeze(InferContext& context) {
  if (!context.has_input(1)) return SqueezeAll(context);
  TENSORD_RETURN_IF_ERROR(CheckAxesInput(context));
  if (context.constant(1) == nullptr) return context.NeedsValue(1);
  TENSORD_ASSIGN_OR_RETURN(
      const std::vector<bool> goes,
      MarkAxes(context, ConstantIntegers(context, 1), context.rank(0)));
  SymbolicShape y;
  for (int d = 0; d < context.rank(0); ++d) {
    const Dim dim = context.shape(0)[d];
    if (!goes[d]) {
      y.push_back(dim);
    } else if (dim.is_known() && dim.extent() != 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", d, " has extent ", dim.extent(), ", not 1"));
    }
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

absl::Status InferUnsqueeze(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(CheckAxesInput(context));
  if (context.constant(1) == nullptr) return context.NeedsValue(1);
  const std::vector<int64_t> axes = ConstantIntegers(context, 1);
  const int rank = context.rank(0) + static_cast<int>(axes.size());
  if (rank > kMaxRank) {
    return absl::InvalidArgumentError(absl::StrCat(
        axes.size(), " axes for an input of rank ", context.rank(0),
        " give rank ", rank, ", above the limit of ", kMaxRank));
  }
  TENSORD_ASSIGN_OR_RETURN(const std::vector<bool> comes,
                           MarkAxes(context, axes, rank));
  SymbolicShape y;
  int next = 0;
  for (int d = 0; d < rank; ++d) {
    y.push_back(comes[d] ? Dim::Known(1) : context.shape(0)[next++]);
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef SqueezeDef() {
  return {.op = OpKind::kSqueeze,
          .min_inputs = 1,
          .max_inputs = 2,
          .read = &ReadSqueeze,
          .infer = &InferSqueeze,
          .is_view = true};
}

OpDef UnsqueezeDef() {
  return {.op = OpKind::kUnsqueeze,
          .min_inputs = 1,
          .max_inputs = 2,
          .read = &ReadUnsqueeze,
          .required_inputs = 2,
          .infer = &InferUnsqueeze,
          .is_view = true};
}

}  // namespace tensord
