#include "backends/cpu/kernel_table.h"

#include <cstdint>

#include "backends/cpu/kernels/kernels.h"

namespace tensord {
namespace {

// A row: operator, name, dtypes, file in backends/cpu/kernels, then the rest of
// KernelEntry in its order.
#define KERNEL(op_, name_, dtypes_, file, ...)              \
  {                                                         \
    .op = OpKind::k##op_, .dtypes = dtypes_, .name = name_, \
    .source = "backends/cpu/kernels/" file, __VA_ARGS__     \
  }

// Rows of one operator for several dtypes: ROW(C++ type, suffix, ...) each.
#define FLOATS(ROW, ...) \
  ROW(float, "f32", __VA_ARGS__), ROW(double, "f64", __VA_ARGS__)
#define SIGNED_NUMBERS(ROW, ...)                                          \
  FLOATS(ROW, __VA_ARGS__), ROW(int8_t, "i8", __VA_ARGS__),               \
      ROW(int16_t, "i16", __VA_ARGS__), ROW(int32_t, "i32", __VA_ARGS__), \
      ROW(int64_t, "i64", __VA_ARGS__)
#define NUMBERS(ROW, ...)                                                   \
  SIGNED_NUMBERS(ROW, __VA_ARGS__), ROW(uint8_t, "u8", __VA_ARGS__),        \
      ROW(uint16_t, "u16", __VA_ARGS__), ROW(uint32_t, "u32", __VA_ARGS__), \
      ROW(uint64_t, "u64", __VA_ARGS__)
// What MatMul and Gemm take beside float32, for which they have faster rows.
#define WIDE_NUMBERS(ROW, ...)                                             \
  ROW(double, "f64", __VA_ARGS__), ROW(int32_t, "i32", __VA_ARGS__),       \
      ROW(int64_t, "i64", __VA_ARGS__), ROW(uint32_t, "u32", __VA_ARGS__), \
      ROW(uint64_t, "u64", __VA_ARGS__)

// Operators that copy elements as bytes: ROW(DType, its bytes, suffix, ...).
#define BYTES(ROW, ...)                                                       \
  ROW(kFloat32, 4, "f32", __VA_ARGS__), ROW(kFloat64, 8, "f64", __VA_ARGS__), \
      ROW(kFloat16, 2, "f16", __VA_ARGS__),                                   \
      ROW(kBFloat16, 2, "bf16", __VA_ARGS__),                                 \
      ROW(kInt8, 1, "i8", __VA_ARGS__), ROW(kInt16, 2, "i16", __VA_ARGS__),   \
      ROW(kInt32, 4, "i32", __VA_ARGS__), ROW(kInt64, 8, "i64", __VA_ARGS__), \
      ROW(kUInt8, 1, "u8", __VA_ARGS__), ROW(kUInt16, 2, "u16", __VA_ARGS__), \
      ROW(kUInt32, 4, "u32", __VA_ARGS__),                                    \
      ROW(kUInt64, 8, "u64", __VA_ARGS__), ROW(kBool, 1, "bool", __VA_ARGS__)

// Element-wise operators may write over an input of the output's size.
#define UNARY(T, suffix, op, name, file)                                  \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), file, .run = &Run##op<T>, \
         .caps = {.in_place_inputs = 0b1})
#define BINARY(T, suffix, op, name, file)                                 \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), file, .run = &Run##op<T>, \
         .caps = {.in_place_inputs = 0b11})
#define POW(T, U, name)                                               \
  KERNEL(Pow, name, Takes({kDTypeOf<T>, kDTypeOf<U>}, {kDTypeOf<T>}), \
         "binary.cc", .run = &RunPow<T, U>, .caps = {.in_place_inputs = 0b1})
#define COPY(dtype, bytes, suffix, op, name, file) \
  KERNEL(op, name "_" suffix, All(DType::dtype), file, .run = &Run##op<bytes>)
#define POOL(T, suffix, op, name)                          \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), "pool.cc", \
         .accepts = &AcceptsPool, .cost = &PoolCost, .run = &Run##op<T>)
#define GLOBAL_POOL(T, suffix, op, name) \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), "pool.cc", .run = &Run##op<T>)
#define SOFTMAX_ROWS(T, suffix, op, name)                             \
  KERNEL(op, name "_" suffix "_rows", All(kDTypeOf<T>), "softmax.cc", \
         .accepts = &AcceptsSoftmaxRows, .cost = &SoftmaxCost,        \
         .run = &Run##op##Rows<T>, .caps = {.in_place_inputs = 0b1})
#define SOFTMAX_STRIPS(T, suffix, op, name)                             \
  KERNEL(op, name "_" suffix "_strips", All(kDTypeOf<T>), "softmax.cc", \
         .cost = &SoftmaxCost, .run = &Run##op##Strips<T>,              \
         .caps = {.in_place_inputs = 0b1})
#define GEMM_ANY(T, suffix, ...)                                   \
  KERNEL(Gemm, "gemm_" suffix "_any", All(kDTypeOf<T>), "gemm.cc", \
         .accepts = &AcceptsGemmAny, .cost = &GemmCost, .run = &RunGemmAny<T>)
#define MATMUL_ANY(T, suffix, ...)                                       \
  KERNEL(MatMul, "matmul_" suffix "_any", All(kDTypeOf<T>), "matmul.cc", \
         .cost = &MatMulCost, .run = &RunMatMulAny<T>)
#define NONZERO(T, suffix, ...)                                             \
  KERNEL(NonZero, "nonzero_" suffix, Takes({kDTypeOf<T>}, {DType::kInt64}), \
         "nonzero.cc", .run = &RunNonZero<T>)

// By operator, in the order of OpKind; an operator's rows in order of
// preference, the portable one last.
constexpr KernelEntry kCpuKernels[] = {
    NUMBERS(UNARY, Abs, "abs", "unary.cc"),

    NUMBERS(BINARY, Add, "add", "binary.cc"),

    FLOATS(POOL, AveragePool, "average_pool"),

    KERNEL(BatchNormalization, "batch_normalization_f32", All(DType::kFloat32),
           "batch_normalization.cc", .prepare = &PrepareBatchNormalization,
           .cost = &BatchNormalizationCost, .run = &RunBatchNormalization,
           .caps = {.in_place_inputs = 0b1}),

    BYTES(COPY, Concat, "concat", "concat.cc"),

    KERNEL(Conv, "conv_f32_1x1", All(DType::kFloat32), "conv.cc",
           .accepts = &AcceptsConv1x1, .workspace_bytes = &ConvWorkspaceBytes,
           .prepare = &PrepareConv, .cost = &ConvCost, .run = &RunConv1x1),
    KERNEL(Conv, "conv_f32_im2col", All(DType::kFloat32), "conv.cc",
           .accepts = &AcceptsConvIm2col,
           .workspace_bytes = &ConvWorkspaceBytes, .prepare = &PrepareConv,
           .cost = &ConvCost, .run = &RunConvIm2col),
    KERNEL(Conv, "conv_f32_direct", All(DType::kFloat32), "conv.cc",
           .accepts = &AcceptsConvDirect, .cost = &ConvCost,
           .run = &RunConvDirect<float>),
    KERNEL(Conv, "conv_f64_direct", All(DType::kFloat64), "conv.cc",
           .accepts = &AcceptsConvDirect, .cost = &ConvCost,
           .run = &RunConvDirect<double>),

    NUMBERS(BINARY, Div, "div", "binary.cc"),

    FLOATS(UNARY, Exp, "exp", "unary.cc"),

    KERNEL(Gemm, "gemm_f32_few_rows", All(DType::kFloat32), "gemm.cc",
           .accepts = &AcceptsGemmFewRows, .cost = &GemmCost,
           .run = &RunGemmFewRows),
    KERNEL(Gemm, "gemm_f32_blocked", All(DType::kFloat32), "gemm.cc",
           .cost = &GemmCost, .run = &RunGemmBlocked),
    GEMM_ANY(float, "f32"),
    WIDE_NUMBERS(GEMM_ANY),

    FLOATS(GLOBAL_POOL, GlobalAveragePool, "global_average_pool"),

    FLOATS(GLOBAL_POOL, GlobalMaxPool, "global_max_pool"),

    KERNEL(Identity, "identity_bytes", AnyDTypes(), "identity.cc",
           .accepts = &AcceptsIdentity, .run = &RunIdentity,
           .caps = {.in_place_inputs = 0b1}),

    FLOATS(SOFTMAX_ROWS, LogSoftmax, "log_softmax"),
    FLOATS(SOFTMAX_STRIPS, LogSoftmax, "log_softmax"),

    KERNEL(MatMul, "matmul_f32_few_rows", All(DType::kFloat32), "matmul.cc",
           .accepts = &AcceptsMatMulFewRows, .cost = &MatMulCost,
           .run = &RunMatMulFewRows),
    KERNEL(MatMul, "matmul_f32_blocked", All(DType::kFloat32), "matmul.cc",
           .cost = &MatMulCost, .run = &RunMatMulBlocked),
    MATMUL_ANY(float, "f32"),
    WIDE_NUMBERS(MATMUL_ANY),

    FLOATS(POOL, MaxPool, "max_pool"),
    POOL(int8_t, "i8", MaxPool, "max_pool"),
    POOL(uint8_t, "u8", MaxPool, "max_pool"),

    NUMBERS(BINARY, Mul, "mul", "binary.cc"),

    SIGNED_NUMBERS(UNARY, Neg, "neg", "unary.cc"),

    NUMBERS(NONZERO),
    NONZERO(bool, "bool"),

    POW(float, float, "pow_f32"),
    POW(float, double, "pow_f32_f64"),
    POW(float, int32_t, "pow_f32_i32"),
    POW(float, int64_t, "pow_f32_i64"),
    POW(double, float, "pow_f64_f32"),
    POW(double, double, "pow_f64"),
    POW(double, int64_t, "pow_f64_i64"),
    POW(int32_t, int32_t, "pow_i32"),
    POW(int64_t, int64_t, "pow_i64"),

    SIGNED_NUMBERS(UNARY, Relu, "relu", "unary.cc"),

    FLOATS(UNARY, Sigmoid, "sigmoid", "unary.cc"),

    FLOATS(SOFTMAX_ROWS, Softmax, "softmax"),
    FLOATS(SOFTMAX_STRIPS, Softmax, "softmax"),

    FLOATS(UNARY, Sqrt, "sqrt", "unary.cc"),

    NUMBERS(BINARY, Sub, "sub", "binary.cc"),

    FLOATS(UNARY, Tanh, "tanh", "unary.cc"),
};

}  // namespace

absl::Span<const KernelEntry> CpuKernels() { return kCpuKernels; }

}  // namespace tensord
