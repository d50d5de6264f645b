// The rows of Softmax and its siblings, and of normalizations. Their kernels
// take the operator as an argument, so a row's function says which it is.

#include "backends/cuda/kernels/normalization.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

using RunOf = absl::Status(const KernelCall&, OpKind, DType);

template <RunOf* kRun, OpKind kOp, DType kDType>
absl::Status Run(const KernelCall& call) {
  return kRun(call, kOp, kDType);
}

// Some passes over x, from memory or from the cache, and one over y.
KernelCost PassesCost(const NodeSite& site) {
  const int64_t elements = site.input(0).shape.element_count();
  return {.flops = 8.0 * static_cast<double>(elements),
          .bytes = 2.0 * ByteSize(site.input_dtype(0), elements)};
}

#define SIMPLE(T, dtype, suffix, op_, name_, run_, file, caps_)     \
  TENSORD_CUDA_ROW(op_, name_ "_" suffix, All(DType::dtype), file,  \
                   .cost = &PassesCost,                             \
                   .run = &Run<run_, OpKind::k##op_, DType::dtype>, \
                   .caps = {.in_place_inputs = caps_})
#define SIMPLE_FLOATS(op, name, run, file, in_place) \
  TENSORD_CUDA_FLOATS(SIMPLE, op, name, run, file, in_place)

// Statistics are of float32 or bfloat16.
#define LAYER_NORMALIZATION(T, dtype, suffix, statistics, name_)               \
  TENSORD_CUDA_ROW(LayerNormalization, "layer_normalization_" suffix name_,    \
                   (Takes({DType::dtype}, {DType::dtype, DType::statistics})), \
                   "layer_normalization.cu", .cost = &PassesCost,              \
                   .run = &Run<RunLayerNormalization,                          \
                               OpKind::kLayerNormalization, DType::dtype>,     \
                   .caps = {.in_place_inputs = 0b1001, .takes_skip = true})
#define BATCH_NORMALIZATION(T, dtype, suffix, ...)                             \
  TENSORD_CUDA_ROW(BatchNormalization, "batch_normalization_" suffix,          \
                   (Takes({DType::dtype, DType::kUndefined}, {DType::dtype})), \
                   "batch_normalization.cu",                                   \
                   .workspace_bytes = &BatchNormalizationWorkspaceBytes,       \
                   .prepare = &PrepareBatchNormalization, .cost = &PassesCost, \
                   .run = &Run<RunBatchNormalization,                          \
                               OpKind::kBatchNormalization, DType::dtype>,     \
                   .caps = {.in_place_inputs = 0b1})

constexpr KernelEntry kRows[] = {
    TENSORD_CUDA_FLOATS(BATCH_NORMALIZATION),
    SIMPLE_FLOATS(GroupNormalization, "group_normalization",
                  RunGroupNormalization, "group_normalization.cu", 0b1),
    SIMPLE_FLOATS(Hardmax, "hardmax", RunSoftmax, "softmax.cu", 0),
    SIMPLE_FLOATS(InstanceNormalization, "instance_normalization",
                  RunGroupNormalization, "group_normalization.cu", 0b1),
    SIMPLE_FLOATS(LRN, "lrn", RunLrn, "lrn.cu", 0),
    TENSORD_CUDA_FLOATS(LAYER_NORMALIZATION, kFloat32, ""),
    TENSORD_CUDA_FLOATS(LAYER_NORMALIZATION, kBFloat16, "_statistics_bf16"),
    SIMPLE_FLOATS(LogSoftmax, "log_softmax", RunSoftmax, "softmax.cu", 0b1),
    SIMPLE_FLOATS(LpNormalization, "lp_normalization", RunLineNormalization,
                  "line_normalization.cu", 0b1),
    SIMPLE_FLOATS(MeanVarianceNormalization, "mean_variance_normalization",
                  RunLineNormalization, "line_normalization.cu", 0b1),
    SIMPLE_FLOATS(RMSNormalization, "rms_normalization", RunLayerNormalization,
                  "layer_normalization.cu", 0b1),
    SIMPLE_FLOATS(Softmax, "softmax", RunSoftmax, "softmax.cu", 0b1),
};

}  // namespace

absl::Span<const KernelEntry> NormalizationRows() { return kRows; }

}  // namespace tensord::cuda
