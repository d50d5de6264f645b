#ifndef TENSORD_BACKENDS_CUDA_KERNELS_REDUCE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_REDUCE_H_

#include "absl/status/status.h"
#include "backends/api/kernel.h"

// What reduce_rows.cu makes rows of: one function for each file of kernels.
// `dtype` is input 0's.
namespace tensord::cuda {

// reduce_sum.cu: ReduceL1, ReduceL2, ReduceLogSum, ReduceMean, ReduceProd,
// ReduceSum, ReduceSumSquare
absl::Status RunReduceSum(const KernelCall& call, OpKind op, DType dtype);

// reduce_extreme.cu: ReduceMax, ReduceMin
absl::Status RunReduceExtreme(const KernelCall& call, OpKind op, DType dtype);

// reduce_log.cu: ReduceLogSumExp
absl::Status RunReduceLogSumExp(const KernelCall& call, OpKind op, DType dtype);

// arg_reduce.cu: ArgMax, ArgMin
absl::Status RunArgReduce(const KernelCall& call, OpKind op, DType dtype);
uint64_t ArgReduceWorkspaceBytes(const NodeSite& site);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_REDUCE_H_
