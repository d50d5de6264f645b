// Split: parts of the input along an axis. Their extents are the attribute
// 'split' or, from operator set 13 on, input 1; without either the parts are
// equal. From 18 on 'num_outputs' must say how many there are, and the last of
// equal parts may be smaller.

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
  SplitParams params;
  TENSORD_ASSIGN_OR_RETURN(params.axis, node.Int("axis", 0));
  TENSORD_RETURN_IF_ERROR(MoveIntsToInput(node, "split", 12, 1));
  if (node.opset() < 18) return params;
  params.last_may_be_smaller = true;
  if (!node.Has("num_outputs")) return params;
  TENSORD_ASSIGN_OR_RETURN(const int64_t count, node.Int("num_outputs", 0));
  if (count != node.output_count()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'num_outputs' is ", count, ", but there are ",
                     node.output_count(), " outputs"));
  }
  return params;
}

class SplitRule {
 public:
  SplitRule(InferContext& context, int axis)
      : context_(context), axis_(axis), whole_(context.shape(0)[axis]) {}

  // The parts' extents stand in an input.
  absl::Status ByInput() {
    TENSORD_RETURN_IF_ERROR(context_.CheckDType(1, kInt64Only));
    TENSORD_RETURN_IF_ERROR(context_.CheckRank(1, 1, 1));
    TENSORD_RETURN_IF_ERROR(context_.CheckSameDim(
        "number of parts and outputs:", context_.shape(1)[0],
        Dim::Known(context_.output_count())));
    if (context_.constant(1) == nullptr) {
      const bool is_told =
          whole_.is_known() ||
          context_.symbols().is_data_dependent(whole_.symbol());
      for (int i = 0; i < context_.output_count(); ++i) {
        SetPart(i, is_told ? context_.DataDependentDim(
                                 context_.symbols().UpperBoundOf(whole_))
                           : context_.UnknownDim());
      }
      return absl::OkStatus();
    }
    const std::vector<int64_t> parts = ConstantIntegers(context_, 1);
    int64_t sum = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] < 0 || parts[i] > kMaxElementCount) {
        return absl::InvalidArgumentError(
            absl::StrCat("part ", i, " has extent ", parts[i]));
      }
      sum += parts[i];
      SetPart(static_cast<int>(i), Dim::Known(parts[i]));
    }
    return context_.CheckSameDim(
        absl::StrCat("sum of the parts and extent of axis ", axis_, ":"),
        Dim::Known(sum), whole_);
  }

  absl::Status InEqualParts() {
    SymbolTable& symbols = context_.symbols();
    const int64_t count = context_.output_count();
    const bool last_may_be_smaller =
        context_.params<SplitParams>().last_may_be_smaller;
    Dim part = symbols.FloorDivide(
        last_may_be_smaller ? symbols.Add(whole_, Dim::Known(count - 1))
                            : whole_,
        Dim::Known(count));
    Dim last = part;
    if (last_may_be_smaller) {
      last = symbols.Subtract(whole_,
                              symbols.Multiply(part, Dim::Known(count - 1)));
    }
    if (whole_.is_known() &&
        (last_may_be_smaller ? last.extent() < 0
                             : part.extent() * count != whole_.extent())) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis_, " has extent ", whole_.extent(),
                       ", which does not split into ", count, " parts"));
    }
    for (int i = 0; i < count; ++i) SetPart(i, i == count - 1 ? last : part);
    return absl::OkStatus();
  }

 private:
  void SetPart(int i, Dim extent) {
    SymbolicShape shape = context_.shape(0);
    shape[axis_] = extent;
    context_.SetOutput(i, context_.dtype(0), std::move(shape));
  }

  InferContext& context_;
  const int axis_;
  const Dim whole_;
};

absl::Status Infer(InferContext& context) {
  TENSORD_ASSIGN_OR_RETURN(
      const int axis, context.NormalizeAxis(context.params<SplitParams>().axis,
                                            context.rank(0)));
  SplitRule rule(context, axis);
  return context.has_input(1) ? rule.ByInput() : rule.InEqualParts();
}

}  // namespace

OpDef SplitDef() {
  return {.op = OpKind::kSplit,
          .min_inputs = 1,
          .max_inputs = 2,
          .max_outputs = OpDef::kVariadic,
          .read = &Read,
          .infer = &Infer,
          .has_data_dependent_extents = true};
}

}  // namespace tensord
