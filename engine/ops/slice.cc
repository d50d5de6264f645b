// Slice: a range of indices, with a step, along some dimensions. Inputs: data,
// starts, ends, optional axes, optional steps. Up to operator set 9 starts,
// ends and axes are attributes, and there are no steps.

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/slice_range.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kStarts = 1;
constexpr int kEnds = 2;
constexpr int kAxes = 3;
constexpr int kSteps = 4;

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (node.opset() >= 10) return NoParams{};
  if (!node.Has("starts") || !node.Has("ends")) {
    return absl::InvalidArgumentError(
        "attributes 'starts' and 'ends' are needed");
  }
  TENSORD_RETURN_IF_ERROR(MoveIntsToInput(node, "starts", 9, kStarts));
  TENSORD_RETURN_IF_ERROR(MoveIntsToInput(node, "ends", 9, kEnds));
  TENSORD_RETURN_IF_ERROR(MoveIntsToInput(node, "axes", 9, kAxes));
  return NoParams{};
}

absl::Status CheckArguments(const InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  for (int i = kStarts; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kIndexDTypes));
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(i, kStarts));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    TENSORD_RETURN_IF_ERROR(
        context.CheckSameDim(absl::StrCat("extents of inputs 1 and ", i),
                             context.shape(kStarts)[0], context.shape(i)[0]));
  }
  return absl::OkStatus();
}

// The integers of an argument; nothing while they are not known.
std::optional<std::vector<int64_t>> ValuesOf(const InferContext& context,
                                             int i) {
  if (context.constant(i) == nullptr) return std::nullopt;
  return ConstantIntegers(context, i);
}

// An extent that is at most `whole`: told by the run where that depends on the
// data, and until shapes are concrete nothing is said of it.
Dim PartOf(InferContext& context, Dim whole) {
  if (!whole.is_known() &&
      !context.symbols().is_data_dependent(whole.symbol())) {
    return context.UnknownDim();
  }
  return context.DataDependentDim(context.symbols().UpperBoundOf(whole));
}

// The sliced dimension; `start` and `end` are absent when not known.
absl::StatusOr<Dim> SlicedDim(InferContext& context, Dim whole,
                              std::optional<int64_t> start,
                              std::optional<int64_t> end,
                              std::optional<int64_t> step) {
  if (step.has_value() && *step == 0) {
    return absl::InvalidArgumentError("a step is 0");
  }
  if (!start.has_value() || !end.has_value() || !step.has_value()) {
    return PartOf(context, whole);
  }
  if (whole.is_known()) {
    return Dim::Known(ResolveSlice(*start, *end, *step, whole.extent()).count);
  }
  // No extent is as large as this.
  const bool is_everything =
      *step == 1 && *start == 0 && *end >= kMaxElementCount;
  return is_everything ? whole : PartOf(context, whole);
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(CheckArguments(context));
  const int rank = context.rank(0);
  SymbolicShape y = context.shape(0);
  const Dim count = context.shape(kStarts)[0];
  const bool has_axes = context.has_input(kAxes);
  if (!count.is_known() || (has_axes && context.constant(kAxes) == nullptr)) {
    for (Dim& dim : y) dim = PartOf(context, dim);
    context.SetOutput(0, context.dtype(0), std::move(y));
    return absl::OkStatus();
  }
  if (count.extent() > rank) {
    return absl::InvalidArgumentError(
        absl::StrCat(count.extent(), " slices of an input of rank ", rank));
  }
  std::vector<int64_t> axes;
  if (has_axes) {
    axes = ConstantIntegers(context, kAxes);
  } else {
    for (int64_t d = 0; d < count.extent(); ++d) axes.push_back(d);
  }
  TENSORD_RETURN_IF_ERROR(MarkAxes(context, axes, rank).status());
  const auto starts = ValuesOf(context, kStarts);
  const auto ends = ValuesOf(context, kEnds);
  auto steps = ValuesOf(context, kSteps);
  if (!context.has_input(kSteps)) steps.emplace(axes.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = y[axes[i] < 0 ? axes[i] + rank : axes[i]];
    const auto at = [i](const std::optional<std::vector<int64_t>>& values) {
      return values.has_value() ? std::make_optional((*values)[i])
                                : std::nullopt;
    };
    TENSORD_ASSIGN_OR_RETURN(
        dim, SlicedDim(context, dim, at(starts), at(ends), at(steps)));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef SliceDef() {
  return {.op = OpKind::kSlice,
          .min_inputs = 1,
          .max_inputs = 5,
          .read = &Read,
          .required_inputs = kEnds + 1,
          .infer = &Infer,
          .has_data_dependent_extents = true};
}

}  // namespace tensord
