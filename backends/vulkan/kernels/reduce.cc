// ReduceSum and its siblings, ArgMax and ArgMin.
//
//   Sum: sum of x      Mean: sum / count     L1: sum of |x|    Max, Min
//   L2: sqrt(sum x^2)  SumSquare: sum x^2    Prod: product     LogSum: log(sum)
//   LogSumExp: log(sum of exp(x))            ArgMax, ArgMin: the first (last)
//                                            index of the extreme, int64
//
// x is contiguous; the axes must be known before the run. Floats accumulate in
// float32, sums of them with what each addition leaves out; integers wrap. Over
// no element at all a sum is 0, a product 1, and Mean NaN (of integers 0). A
// NaN is greater and less than any number.

#include "backends/vulkan/kernels/reduce.h"

#include <array>
#include <cstdint>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/api/host_arguments.h"
#include "backends/vulkan/kernels/row_list.h"
#include "backends/vulkan/kernels/rows.h"
#include "vulkan/shader_codes.h"

namespace tensord::vulkan {
namespace {

constexpr int kMostDigits = 4;  // reduce.comp's

struct Digit {
  uint32_t extent, stride;
};
// reduce.comp's, behind the addresses.
struct Arguments {
  uint32_t outputs;
  uint32_t count;
  uint32_t kept_rank;
  uint32_t reduced_rank;
  Digit kept[kMostDigits];
  Digit reduced[kMostDigits];
};

ReductionKind KindOf(OpKind op) {
  switch (op) {
    case OpKind::kReduceSum:
      return ReductionKind::kSum;
    case OpKind::kReduceMean:
      return ReductionKind::kMean;
    case OpKind::kReduceMax:
      return ReductionKind::kMax;
    case OpKind::kReduceMin:
      return ReductionKind::kMin;
    case OpKind::kReduceProd:
      return ReductionKind::kProd;
    case OpKind::kReduceL1:
      return ReductionKind::kL1;
    case OpKind::kReduceL2:
      return ReductionKind::kL2;
    case OpKind::kReduceSumSquare:
      return ReductionKind::kSumSquare;
    case OpKind::kReduceLogSum:
      return ReductionKind::kLogSum;
    case OpKind::kReduceLogSumExp:
      return ReductionKind::kLogSumExp;
    case OpKind::kArgMax:
      return ReductionKind::kArgMax;
    default:
      return ReductionKind::kArgMin;
  }
}

// Dimensions that are reduced (or not) as digits, neighbours merged.
absl::Status SetDigits(const Shape& x, const DimensionMask& mask, bool reduced,
                       Digit (&digits)[kMostDigits], uint32_t& rank) {
  uint32_t stride = 1;
  std::optional<int> last;  // the dimension of the last digit
  rank = 0;
  for (int d = x.rank() - 1; d >= 0; --d) {
    const auto extent = static_cast<uint32_t>(x[d]);
    if (mask[d] == reduced && extent != 1) {
      if (last.has_value() &&
          stride == digits[rank - 1].stride * digits[rank - 1].extent) {
        digits[rank - 1].extent *= extent;
      } else if (rank == kMostDigits) {
        return absl::UnimplementedError(
            absl::StrCat("dimensions of ", x.ToString(),
                         " alternate more than ", kMostDigits, " times"));
      } else {
        digits[rank++] = {extent, stride};
      }
      last = d;
    }
    stride *= extent;
  }
  return absl::OkStatus();
}

absl::Status PlanReduce(const NodeSite& site, Plan& plan) {
  // Without axes that are known the host's kernel tells the extents.
  if (site.has_input(1) && site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError(
        "the axes are not known before the run");
  }
  const auto& params = std::get<ReduceParams>(site.params);
  const int rank = site.input(0).shape.rank();
  const Dims axes = IsGiven(site, 1) ? HostIntegers(site, 1) : Dims();
  DimensionMask mask{};
  if (axes.empty() && !params.noop_with_empty_axes) mask.fill(true);
  for (int64_t axis : axes) {
    if (axis < -rank || axis >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " of rank ", rank));
    }
    mask[Normalised(axis, rank)] = true;
  }
  return AddReduction(site, KindOf(site.op), mask, /*selects_last=*/false,
                      plan);
}

absl::Status PlanArgReduce(const NodeSite& site, Plan& plan) {
  const auto& params = std::get<ArgReduceParams>(site.params);
  DimensionMask mask{};
  mask[Normalised(params.axis, site.input(0).shape.rank())] = true;
  return AddReduction(site, KindOf(site.op), mask, params.selects_last, plan);
}

KernelCost ReduceCost(const NodeSite& site) {
  KernelCost cost = CostByElements(site, 0);
  cost.flops = 4.0 * static_cast<double>(site.input(0).shape.element_count());
  return cost;
}

struct Reduction {
  OpKind op;
  const char* name;
  bool takes_wide_integers;
  bool takes_narrow_integers;
};

constexpr Reduction kReductions[] = {
    {OpKind::kReduceL1, "reduce_l1", true, false},
    {OpKind::kReduceL2, "reduce_l2", false, false},
    {OpKind::kReduceLogSum, "reduce_log_sum", false, false},
    {OpKind::kReduceLogSumExp, "reduce_log_sum_exp", false, false},
    {OpKind::kReduceMax, "reduce_max", true, true},
    {OpKind::kReduceMean, "reduce_mean", true, false},
    {OpKind::kReduceMin, "reduce_min", true, true},
    {OpKind::kReduceProd, "reduce_prod", true, false},
    {OpKind::kReduceSum, "reduce_sum", true, false},
    {OpKind::kReduceSumSquare, "reduce_sum_square", true, false},
};

RowList Rows() {
  const RowTraits traits = {.source = "backends/vulkan/kernels/reduce.cc",
                            .cost = &ReduceCost};
  RowList rows;
  const auto add = [&](const Reduction& reduction, DType dtype) {
    rows.Add<&PlanReduce>(reduction.op, RowList::NameOf(reduction.name, dtype),
                          Takes({dtype, DType::kInt64}, {dtype}), traits);
  };
  for (const Reduction& reduction : kReductions) {
    for (const DType dtype : kFloats) add(reduction, dtype);
    if (reduction.takes_wide_integers) {
      for (const DType dtype :
           {DType::kInt32, DType::kInt64, DType::kUInt32, DType::kUInt64}) {
        add(reduction, dtype);
      }
    }
    if (reduction.takes_narrow_integers) {
      for (const DType dtype : {DType::kInt8, DType::kUInt8, DType::kBool}) {
        add(reduction, dtype);
      }
    }
  }
  for (const auto dtypes :
       {absl::MakeConstSpan(kFloats), absl::MakeConstSpan(kSignedIntegers),
        absl::MakeConstSpan(kUnsignedIntegers)}) {
    for (const DType dtype : dtypes) {
      const DTypeSignature to_index = Takes({dtype}, {DType::kInt64});
      rows.Add<&PlanArgReduce>(
          OpKind::kArgMax, RowList::NameOf("arg_max", dtype), to_index, traits);
      rows.Add<&PlanArgReduce>(
          OpKind::kArgMin, RowList::NameOf("arg_min", dtype), to_index, traits);
    }
  }
  return rows;
}

}  // namespace

absl::Status AddReduction(const NodeSite& site, ReductionKind kind,
                          const DimensionMask& mask, bool selects_last,
                          Plan& plan) {
  const Shape& x = site.input(0).shape;
  Arguments arguments = {};
  absl::Status status =
      SetDigits(x, mask, false, arguments.kept, arguments.kept_rank);
  if (status.ok()) {
    status =
        SetDigits(x, mask, true, arguments.reduced, arguments.reduced_rank);
  }
  if (!status.ok()) return status;
  int64_t count = 1;
  int64_t outputs = 1;
  for (int d = 0; d < x.rank(); ++d) (mask[d] ? count : outputs) *= x[d];
  arguments.outputs = static_cast<uint32_t>(outputs);
  arguments.count = static_cast<uint32_t>(count);
  constexpr int64_t kFewElements = 32;
  const bool is_single = count < kFewElements;
  const uint32_t width = is_single ? 64 : WidthOfRow(count);
  plan.Add(shaders::k_reduce,
           {width, static_cast<uint32_t>(site.input_dtype(0)),
            static_cast<uint32_t>(kind), is_single ? 1u : 0u,
            selects_last ? 1u : 0u},
           is_single ? GroupsFor(outputs, width) : GroupsFor(outputs, 1),
           {plan.In(0), plan.Out(0)}, arguments);
  return absl::OkStatus();
}

absl::Span<const KernelEntry> ReduceRows() {
  static const auto* const rows = new RowList(Rows());
  return rows->rows();
}

}  // namespace tensord::vulkan
