// The rows of casts and quantizations, Dropout, CumSum and CumProd.

#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/cast.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"

namespace tensord::cuda {
namespace {

template <DType kFrom>
absl::Status RunCastFrom(const KernelCall& call) {
  return RunCast(call, kFrom);
}

absl::Status AcceptsCast(const NodeSite& site) {
  if (IsNumber(site.output_dtype(0))) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat(DTypeName(site.output_dtype(0)), " is no C++ type"));
}

template <int kBytes>
absl::Status RunDropoutOf(const KernelCall& call) {
  return RunDropout(call, kBytes);
}

template <OpKind kOp, DType kDType>
absl::Status RunCumulationOf(const KernelCall& call) {
  return RunCumulation(call, kOp, kDType);
}

// CastLike's second input, of any dtype, is not read.
#define CAST(T, dtype, suffix, op, name)                               \
  TENSORD_CUDA_ROW(                                                    \
      op, name "_" suffix,                                             \
      (Takes({DType::dtype, DType::kUndefined}, {DType::kUndefined})), \
      "cast.cu", .accepts = &AcceptsCast, .prepare = &PrepareCast,     \
      .run = &RunCastFrom<DType::dtype>)
#define CASTS(op, name)                                                      \
  TENSORD_CUDA_NUMBERS(CAST, op, name), CAST(bool, kBool, "bool", op, name), \
      TENSORD_CUDA_ROW(op, name "_small", AnyDTypes(), "cast_small.cu",      \
                       .accepts = &AcceptsCastSmall,                         \
                       .prepare = &PrepareCastSmall, .run = &RunCastSmall)
#define DROPOUT(dtype, bytes, suffix)                         \
  TENSORD_CUDA_ROW(Dropout, "dropout_" suffix,                \
                   (Takes({DType::dtype, DType::kUndefined},  \
                          {DType::dtype, DType::kBool})),     \
                   "dropout.cu", .run = &RunDropoutOf<bytes>, \
                   .caps = {.in_place_inputs = 0b1})
#define CUMULATION(T, dtype, suffix, op, name)                                 \
  TENSORD_CUDA_ROW(op, name "_" suffix,                                        \
                   (Takes({DType::dtype, DType::kUndefined}, {DType::dtype})), \
                   "cumulate.cu", .accepts = &AcceptsCumulation,               \
                   .prepare = &PrepareCumulation,                              \
                   .run = &RunCumulationOf<OpKind::k##op, DType::dtype>,       \
                   .caps = {.in_place_inputs = 0b1})

constexpr KernelEntry kRows[] = {
    CASTS(Cast, "cast"),
    CASTS(CastLike, "cast_like"),
    TENSORD_CUDA_WIDE_NUMBERS(CUMULATION, CumProd, "cumprod"),
    TENSORD_CUDA_WIDE_NUMBERS(CUMULATION, CumSum, "cumsum"),
    TENSORD_CUDA_ROW(DequantizeLinear, "dequantize_linear_any", AnyDTypes(),
                     "quantize.cu", .accepts = &AcceptsDequantize,
                     .prepare = &PrepareQuantize, .run = &RunDequantize),
    DROPOUT(kFloat32, 4, "f32"),
    DROPOUT(kFloat64, 8, "f64"),
    DROPOUT(kFloat16, 2, "f16"),
    DROPOUT(kBFloat16, 2, "bf16"),
    TENSORD_CUDA_ROW(DynamicQuantizeLinear, "dynamic_quantize_linear_f32",
                     (Takes({DType::kFloat32},
                            {DType::kUInt8, DType::kFloat32, DType::kUInt8})),
                     "dynamic_quantize.cu",
                     .workspace_bytes = &DynamicQuantizeWorkspaceBytes,
                     .run = &RunDynamicQuantize),
    TENSORD_CUDA_ROW(QuantizeLinear, "quantize_linear_any", AnyDTypes(),
                     "quantize.cu", .accepts = &AcceptsQuantize,
                     .prepare = &PrepareQuantize, .run = &RunQuantize),
};

}  // namespace

absl::Span<const KernelEntry> CastRows() { return kRows; }

}  // namespace tensord::cuda
