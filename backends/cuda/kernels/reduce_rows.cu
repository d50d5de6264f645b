// The rows of reductions. Their kernels take the operator as an argument, so a
// row's function says which it is.

#include "backends/cuda/kernels/reduce.h"
#include "backends/cuda/kernels/reduction.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

using RunOf = absl::Status(const KernelCall&, OpKind, DType);

template <RunOf* kRun, OpKind kOp, DType kDType>
absl::Status Run(const KernelCall& call) {
  return kRun(call, kOp, kDType);
}

#define REDUCE(T, dtype, suffix, op_, name_, run_, file)                       \
  {                                                                            \
    .op = OpKind::k##op_,                                                      \
    .dtypes = Takes({DType::dtype, DType::kInt64}, {DType::dtype}),            \
    .name = name_ "_" suffix, .source = "backends/cuda/kernels/" file,         \
    .accepts = &AcceptsReduction, .workspace_bytes = &ReductionWorkspaceBytes, \
    .prepare = &PrepareReduction, .cost = &ReductionCost,                      \
    .run = &Run<run_, OpKind::k##op_, DType::dtype>,                           \
  }
#define SUMS(op, name) \
  TENSORD_CUDA_WIDE_NUMBERS(REDUCE, op, name, RunReduceSum, "reduce_sum.cu")
#define EXTREME(T, dtype, suffix, op, name) \
  REDUCE(T, dtype, suffix, op, name, RunReduceExtreme, "reduce_extreme.cu")
#define EXTREMES(op, name)                                      \
  TENSORD_CUDA_WIDE_NUMBERS(REDUCE, op, name, RunReduceExtreme, \
                            "reduce_extreme.cu"),               \
      EXTREME(uint8_t, kInt8, "i8", op, name),                  \
      EXTREME(uint8_t, kUInt8, "u8", op, name),                 \
      EXTREME(uint8_t, kBool, "bool", op, name)
#define ARG_REDUCE(T, dtype, suffix, op_, name_)                               \
  {                                                                            \
    .op = OpKind::k##op_, .dtypes = Takes({DType::dtype}, {DType::kInt64}),    \
    .name = name_ "_" suffix, .source = "backends/cuda/kernels/arg_reduce.cu", \
    .workspace_bytes = &ArgReduceWorkspaceBytes, .cost = &ReductionCost,       \
    .run = &Run<RunArgReduce, OpKind::k##op_, DType::dtype>,                   \
  }

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_NUMBERS(ARG_REDUCE, ArgMax, "arg_max"),
    TENSORD_CUDA_NUMBERS(ARG_REDUCE, ArgMin, "arg_min"),
    SUMS(ReduceL1, "reduce_l1"),
    SUMS(ReduceL2, "reduce_l2"),
    SUMS(ReduceLogSum, "reduce_log_sum"),
    TENSORD_CUDA_WIDE_NUMBERS(REDUCE, ReduceLogSumExp, "reduce_log_sum_exp",
                              RunReduceLogSumExp, "reduce_log.cu"),
    EXTREMES(ReduceMax, "reduce_max"),
    SUMS(ReduceMean, "reduce_mean"),
    EXTREMES(ReduceMin, "reduce_min"),
    SUMS(ReduceProd, "reduce_prod"),
    SUMS(ReduceSum, "reduce_sum"),
    SUMS(ReduceSumSquare, "reduce_sum_square"),
};

}  // namespace

absl::Span<const KernelEntry> ReduceRows() { return kRows; }

}  // namespace tensord::cuda
