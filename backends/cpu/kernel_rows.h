#ifndef TENSORD_BACKENDS_CPU_KERNEL_ROWS_H_
#define TENSORD_BACKENDS_CPU_KERNEL_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/kernel.h"

// How kernel_table.cc writes its rows: macros for one row, for the rows of an
// operator over a set of dtypes, and for operators that are alike. For that
// file alone.

// A row: operator, name, dtypes, file in backends/cpu/kernels, then the rest of
// KernelEntry in its order.
#define KERNEL(op_, name_, dtypes_, file, ...)              \
  {                                                         \
    .op = OpKind::k##op_, .dtypes = dtypes_, .name = name_, \
    .source = "backends/cpu/kernels/" file, __VA_ARGS__     \
  }

// A row of a kernel on oneDNN: the functions are named after the kernel.
#define ONEDNN_AS(op_, name_, dtypes_, Name, run_, ...)             \
  {                                                                 \
    .op = OpKind::k##op_, .dtypes = dtypes_, .name = name_,         \
    .source = "library:onednn", .accepts = &onednn::Accepts##Name,  \
    .workspace_bytes = &onednn::Name##WorkspaceBytes,               \
    .prepare = &onednn::Prepare##Name, .cost = &onednn::Name##Cost, \
    .run = run_, __VA_ARGS__                                        \
  }

// The same of a float32 kernel, which multiplies `factors`.
#define ONEDNN_F32(op_, name_, Name, factors, ...)                       \
  {                                                                      \
    .op = OpKind::k##op_, .dtypes = All(DType::kFloat32), .name = name_, \
    .source = "library:onednn",                                          \
    .accepts = &onednn::Accepts##Name<onednn::Factors::factors>,         \
    .workspace_bytes =                                                   \
        &onednn::Name##WorkspaceBytes<onednn::Factors::factors>,         \
    .prepare = &onednn::Prepare##Name<onednn::Factors::factors>,         \
    .cost = &onednn::Name##Cost<onednn::Factors::factors>,               \
    .run = &onednn::Run##Name, __VA_ARGS__                               \
  }
#define ONEDNN_FACTORS(op, name, Name, ...)                   \
  ONEDNN_F32(op, name "_bf16", Name, kBFloat16, __VA_ARGS__), \
      ONEDNN_F32(op, name, Name, kFloat32, __VA_ARGS__)

// Rows of one operator for several dtypes: ROW(C++ type, suffix, ...) each.
#define FLOATS(ROW, ...) \
  ROW(float, "f32", __VA_ARGS__), ROW(double, "f64", __VA_ARGS__)
#define INTEGERS(ROW, ...)                                                \
  ROW(int8_t, "i8", __VA_ARGS__), ROW(int16_t, "i16", __VA_ARGS__),       \
      ROW(int32_t, "i32", __VA_ARGS__), ROW(int64_t, "i64", __VA_ARGS__), \
      ROW(uint8_t, "u8", __VA_ARGS__), ROW(uint16_t, "u16", __VA_ARGS__), \
      ROW(uint32_t, "u32", __VA_ARGS__), ROW(uint64_t, "u64", __VA_ARGS__)
#define SIGNED_NUMBERS(ROW, ...)                                          \
  FLOATS(ROW, __VA_ARGS__), ROW(int8_t, "i8", __VA_ARGS__),               \
      ROW(int16_t, "i16", __VA_ARGS__), ROW(int32_t, "i32", __VA_ARGS__), \
      ROW(int64_t, "i64", __VA_ARGS__)
#define NUMBERS(ROW, ...)                                                   \
  SIGNED_NUMBERS(ROW, __VA_ARGS__), ROW(uint8_t, "u8", __VA_ARGS__),        \
      ROW(uint16_t, "u16", __VA_ARGS__), ROW(uint32_t, "u32", __VA_ARGS__), \
      ROW(uint64_t, "u64", __VA_ARGS__)
// The same with the 16-bit floating types.
#define HALVES(ROW, ...) \
  ROW(Float16, "f16", __VA_ARGS__), ROW(BFloat16, "bf16", __VA_ARGS__)
#define ALL_FLOATS(ROW, ...) FLOATS(ROW, __VA_ARGS__), HALVES(ROW, __VA_ARGS__)
#define ALL_SIGNED(ROW, ...) \
  SIGNED_NUMBERS(ROW, __VA_ARGS__), HALVES(ROW, __VA_ARGS__)
#define ALL_NUMBERS(ROW, ...) \
  NUMBERS(ROW, __VA_ARGS__), HALVES(ROW, __VA_ARGS__)
#define WIDE_INTEGERS(ROW, ...)                                       \
  ROW(int32_t, "i32", __VA_ARGS__), ROW(int64_t, "i64", __VA_ARGS__), \
      ROW(uint32_t, "u32", __VA_ARGS__), ROW(uint64_t, "u64", __VA_ARGS__)
#define WIDE_NUMBERS(ROW, ...) \
  ROW(double, "f64", __VA_ARGS__), WIDE_INTEGERS(ROW, __VA_ARGS__)

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
// A float32 operator as a chain of one step.
#define STEP(op, name, in_place)                                          \
  KERNEL(op, name "_f32_vector", All(DType::kFloat32), "step_kernels.cc", \
         .prepare = &PrepareStep, .run = &RunStep,                        \
         .caps = {.in_place_inputs = in_place})
#define CLASSIFICATION(T, suffix, op, name)                         \
  KERNEL(op, name "_" suffix, Takes({kDTypeOf<T>}, {DType::kBool}), \
         "classification.cc", .run = &Run##op<T>)
#define CLASSIFICATION_FLOAT8(op, name)                              \
  CLASSIFICATION_CODES(kFloat8E4M3FN, "f8e4m3fn", op, name),         \
      CLASSIFICATION_CODES(kFloat8E4M3FNUZ, "f8e4m3fnuz", op, name), \
      CLASSIFICATION_CODES(kFloat8E5M2, "f8e5m2", op, name),         \
      CLASSIFICATION_CODES(kFloat8E5M2FNUZ, "f8e5m2fnuz", op, name)
#define CLASSIFICATION_CODES(dtype, suffix, op, name)                \
  KERNEL(op, name "_" suffix, Takes({DType::dtype}, {DType::kBool}), \
         "classification.cc", .run = &Run##op##Float8<DType::dtype>)
#define CLIP(T, suffix, ...)                                             \
  KERNEL(Clip, "clip_" suffix,                                           \
         Takes({kDTypeOf<T>, kDTypeOf<T>, kDTypeOf<T>, DType::kFloat32}, \
               {kDTypeOf<T>}),                                           \
         "clip.cc", .run = &RunClip<T>, .caps = {.in_place_inputs = 0b1})
#define BINARY(T, suffix, op, name, file)                                 \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), file, .run = &Run##op<T>, \
         .caps = {.in_place_inputs = 0b11})
// The operators of bitwise.cc see integers as bits.
#define BITWISE(T, suffix, op, name)                          \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), "bitwise.cc", \
         .run = &Run##op<std::make_unsigned_t<T>>,            \
         .caps = {.in_place_inputs = 0b11})
#define BIT_SHIFT(T, suffix) BITWISE(T, suffix, BitShift, "bit_shift")
// Elements of T are compared as C.
#define COMPARISON_AS(T, suffix, C, op, name)                       \
  KERNEL(op, name "_" suffix, Takes({kDTypeOf<T>}, {DType::kBool}), \
         "comparison.cc", .run = &Run##op<C>)
#define COMPARISON(T, suffix, op, name) COMPARISON_AS(T, suffix, T, op, name)
#define EQUAL_BITS(T, suffix, ...) \
  COMPARISON_AS(T, suffix, std::make_unsigned_t<T>, Equal, "equal")
#define LOGIC(op, name)                                                    \
  KERNEL(op, name "_bool", All(DType::kBool), "logic.cc", .run = &Run##op, \
         .caps = {.in_place_inputs = 0b11})
#define POW(U, exponent, T, base)                                    \
  KERNEL(Pow, "pow_" base "_" exponent,                              \
         Takes({kDTypeOf<T>, kDTypeOf<U>}, {kDTypeOf<T>}), "pow.cc", \
         .run = &RunPow<T, U>, .caps = {.in_place_inputs = 0b1})
#define POWS(T, base) ALL_NUMBERS(POW, T, base)
// Any of the first inputs may be written over.
#define VARIADIC(T, suffix, op, name)                          \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), "variadic.cc", \
         .run = &Run##op<T>, .caps = {.in_place_inputs = 0xff})
#define WHERE(dtype, bytes, suffix, ...)                                    \
  KERNEL(Where, "where_" suffix,                                            \
         Takes({DType::kBool, DType::dtype, DType::dtype}, {DType::dtype}), \
         "where.cc", .run = &RunWhere<bytes>,                               \
         .caps = {.in_place_inputs = 0b111})
#define COPY(dtype, bytes, suffix, op, name, file) \
  KERNEL(op, name "_" suffix, All(DType::dtype), file, .run = &Run##op<bytes>)
#define COPY_AT_COST(dtype, bytes, suffix, op, name, file)                \
  KERNEL(op, name "_" suffix, All(DType::dtype), file, .cost = &op##Cost, \
         .run = &Run##op<bytes>)
#define POOL(T, suffix, op, name)                          \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), "pool.cc", \
         .accepts = &AcceptsPool, .cost = &PoolCost, .run = &Run##op<T>)
#define GLOBAL_POOL(T, suffix, op, name)                          \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), "global_pool.cc", \
         .cost = &GlobalPoolCost, .run = &Run##op<T>)
// Nodes with their channels in the last dimension, which other rows decline.
#define POOL_CHANNELS_LAST(T, suffix, op, name)                        \
  KERNEL(op, name "_" suffix "_channels_last", All(kDTypeOf<T>),       \
         "pool_channels_last.cc", .accepts = &AcceptsPoolChannelsLast, \
         .cost = &PoolCost, .run = &Run##op##ChannelsLast<T>,          \
         .caps = {.takes_channels_last = true})
#define GLOBAL_POOL_CHANNELS_LAST(T, suffix, op, name)                 \
  KERNEL(op, name "_" suffix "_channels_last", All(kDTypeOf<T>),       \
         "pool_channels_last.cc", .accepts = &AcceptsPoolChannelsLast, \
         .cost = &GlobalPoolCost, .run = &Run##op##ChannelsLast<T>,    \
         .caps = {.takes_channels_last = true})
#define CONV_CHANNELS_LAST(T, suffix, ...)                              \
  KERNEL(Conv, "conv_" suffix "_channels_last", All(kDTypeOf<T>),       \
         "conv_channels_last.cc", .accepts = &AcceptsConvChannelsLast,  \
         .workspace_bytes = &ConvChannelsLastWorkspaceBytes<T>,         \
         .prepare = &PrepareConvChannelsLast<T>,                        \
         .cost = &ConvChannelsLastCost, .run = &RunConvChannelsLast<T>, \
         .caps = {.takes_channels_last = true})
#define MAX_POOL_INDICES(T, suffix, ...)                           \
  KERNEL(MaxPool, "max_pool_indices_" suffix,                      \
         Takes({kDTypeOf<T>}, {kDTypeOf<T>, DType::kInt64}),       \
         "max_pool_indices.cc", .accepts = &AcceptsMaxPoolIndices, \
         .cost = &PoolCost, .run = &RunMaxPoolIndices<T>)
#define MAX_UNPOOL(dtype, bytes, suffix)                       \
  KERNEL(MaxUnpool, "max_unpool_" suffix,                      \
         Takes({DType::dtype, DType::kInt64}, {DType::dtype}), \
         "max_unpool.cc", .run = &RunMaxUnpool<bytes>)
#define LRN(T, suffix, ...)                                                \
  KERNEL(LRN, "lrn_" suffix, All(kDTypeOf<T>), "lrn.cc", .cost = &LrnCost, \
         .run = &RunLrn<T>)
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
         .accepts = &AcceptsGemmAny, .prepare = &PrepareEpilogue,  \
         .cost = &GemmCost, .run = &RunGemmAny<T>,                 \
         .caps = {.takes_epilogue = true})
#define GEMM_HALF(T, suffix, ...)                                         \
  KERNEL(Gemm, "gemm_" suffix "_blocked", All(kDTypeOf<T>), "gemm.cc",    \
         .accepts = &AcceptsGemm, .workspace_bytes = &GemmWorkspaceBytes, \
         .prepare = &PrepareEpilogue, .cost = &GemmCost,                  \
         .run = &RunGemmBlocked<T>, .caps = {.takes_epilogue = true})
#define MATMUL_HALF(T, suffix, ...)                                           \
  KERNEL(MatMul, "matmul_" suffix "_blocked", All(kDTypeOf<T>), "matmul.cc",  \
         .accepts = &AcceptsMatMul, .workspace_bytes = &MatMulWorkspaceBytes, \
         .prepare = &PrepareEpilogue, .cost = &MatMulCost,                    \
         .run = &RunMatMulBlocked<T>, .caps = {.takes_epilogue = true})
#define MATMUL_ANY(T, suffix, ...)                                       \
  KERNEL(MatMul, "matmul_" suffix "_any", All(kDTypeOf<T>), "matmul.cc", \
         .accepts = &AcceptsMatMul, .prepare = &PrepareEpilogue,         \
         .cost = &MatMulCost, .run = &RunMatMulAny<T>,                   \
         .caps = {.takes_epilogue = true})
#define NONZERO(T, suffix, ...)                                             \
  KERNEL(NonZero, "nonzero_" suffix, Takes({kDTypeOf<T>}, {DType::kInt64}), \
         "nonzero.cc", .run = &RunNonZero<T>)

#define ARG_REDUCE(T, suffix, op, name)                              \
  KERNEL(op, name "_" suffix, Takes({kDTypeOf<T>}, {DType::kInt64}), \
         "arg_reduce.cc", .cost = &ReduceCost, .run = &Run##op<T>)
#define CUMULATIVE(T, suffix, op, name, Index, index)                       \
  KERNEL(op, name "_" suffix "_" index,                                     \
         Takes({kDTypeOf<T>, kDTypeOf<Index>}, {kDTypeOf<T>}), "cumsum.cc", \
         .run = &Run##op<T, Index>, .caps = {.in_place_inputs = 0b1})
#define CUMULATIVE_NUMBERS(...)                                           \
  CUMULATIVE(float, "f32", __VA_ARGS__), HALVES(CUMULATIVE, __VA_ARGS__), \
      WIDE_NUMBERS(CUMULATIVE, __VA_ARGS__)
#define REDUCE(T, suffix, op, name, file)                          \
  KERNEL(op, name "_" suffix,                                      \
         Takes({kDTypeOf<T>, DType::kInt64}, {kDTypeOf<T>}), file, \
         .cost = &ReduceCost, .run = &Run##op<T>)
#define REDUCE_ARITHMETIC(op, name, file)                               \
  REDUCE(float, "f32", op, name, file), HALVES(REDUCE, op, name, file), \
      WIDE_NUMBERS(REDUCE, op, name, file)
#define REDUCE_ORDERED(op, name, file)                                     \
  REDUCE_ARITHMETIC(op, name, file), REDUCE(int8_t, "i8", op, name, file), \
      REDUCE(uint8_t, "u8", op, name, file),                               \
      REDUCE(bool, "bool", op, name, file)
#define TRILU(dtype, bytes, suffix, ...)                                   \
  KERNEL(Trilu, "trilu_" suffix,                                           \
         Takes({DType::dtype, DType::kInt64}, {DType::dtype}), "trilu.cc", \
         .run = &RunTrilu<bytes>, .caps = {.in_place_inputs = 0b1})

// Operators that copy the elements of input 0 as bytes, with a second input of
// int64 that says how.
#define COPY_BY(dtype, bytes, suffix, op, name, file)                \
  KERNEL(op, name "_" suffix,                                        \
         Takes({DType::dtype, DType::kInt64}, {DType::dtype}), file, \
         .run = &Run##op<bytes>)
#define CONSTANT_OF_SHAPE(dtype, bytes, suffix, ...)                     \
  KERNEL(ConstantOfShape, "constant_of_shape_" suffix,                   \
         Takes({DType::kInt64}, {DType::dtype}), "constant_of_shape.cc", \
         .run = &RunConstantOfShape<bytes>)
#define RANGE(T, suffix, ...)                                  \
  KERNEL(Range, "range_" suffix, All(kDTypeOf<T>), "range.cc", \
         .run = &RunRange<T>)
#define SLICE(dtype, bytes, suffix, Index, index)                            \
  KERNEL(Slice, "slice_" suffix "_" index,                                   \
         Takes({DType::dtype, kDTypeOf<Index>}, {DType::dtype}), "slice.cc", \
         .cost = &SliceCost, .run = &RunSlice<bytes, Index>)

// The statistics may be of other floating dtypes, which the kernel asks for.
#define BATCH_NORMALIZATION(T, suffix, ...)                                  \
  KERNEL(BatchNormalization, "batch_normalization_" suffix,                  \
         Takes({kDTypeOf<T>, DType::kUndefined}, {kDTypeOf<T>}),             \
         "batch_normalization.cc", .prepare = &PrepareBatchNormalization<T>, \
         .cost = &BatchNormalizationCost, .run = &RunBatchNormalization<T>,  \
         .caps = {.in_place_inputs = 0b1})
#define GROUP_NORMALIZATION(T, suffix, op, name)                          \
  KERNEL(op, name "_" suffix, All(kDTypeOf<T>), "group_normalization.cc", \
         .cost = &GroupNormalizationCost, .run = &Run##op<T>,             \
         .caps = {.in_place_inputs = 0b1})
// U is the dtype of the statistics.
#define LAYER_NORMALIZATION(T, suffix, U, u)                        \
  KERNEL(LayerNormalization, "layer_normalization_" suffix u,       \
         Takes({kDTypeOf<T>}, {kDTypeOf<T>, kDTypeOf<U>}),          \
         "layer_normalization.cc", .cost = &LayerNormalizationCost, \
         .run = &RunLayerNormalization<T, U>,                       \
         .caps = {.in_place_inputs = 0b1001, .takes_skip = true})
// V is the dtype of the scale and the output.
#define RMS_NORMALIZATION(T, suffix, V, v)                          \
  KERNEL(RMSNormalization, "rms_normalization_" suffix "_" v,       \
         Takes({kDTypeOf<T>, kDTypeOf<V>}, {kDTypeOf<V>}),          \
         "layer_normalization.cc", .cost = &LayerNormalizationCost, \
         .run = &RunRMSNormalization<T, V>,                         \
         .caps = {.in_place_inputs = std::is_same_v<T, V> ? 0b1 : 0})
#define LP_NORMALIZATION(T, suffix, ...)                                \
  KERNEL(LpNormalization, "lp_normalization_" suffix, All(kDTypeOf<T>), \
         "lp_normalization.cc", .run = &RunLpNormalization<T>,          \
         .caps = {.in_place_inputs = 0b1})

#define GATHER_ELEMENTS(dtype, bytes, suffix, Index, index)      \
  KERNEL(GatherElements, "gather_elements_" suffix "_" index,    \
         Takes({DType::dtype, kDTypeOf<Index>}, {DType::dtype}), \
         "gather_elements.cc", .run = &RunGatherElements<bytes, Index>)
#define SCATTER(dtype, bytes, suffix, op, name, Index, index)                  \
  KERNEL(op, name "_" suffix "_" index,                                        \
         Takes({DType::dtype, kDTypeOf<Index>, DType::dtype}, {DType::dtype}), \
         "scatter.cc", .accepts = &AcceptsScatterBytes,                        \
         .run = &RunScatterElementsBytes<bytes, Index>,                        \
         .caps = {.in_place_inputs = 0b1})
#define SCATTER_REDUCE(T, suffix, op, name, Index, index)                   \
  KERNEL(op, name "_reduce_" suffix "_" index,                              \
         Takes({kDTypeOf<T>, kDTypeOf<Index>, kDTypeOf<T>}, {kDTypeOf<T>}), \
         "scatter.cc", .run = &RunScatterElementsReduce<T, Index>,          \
         .caps = {.in_place_inputs = 0b1})
#define SCATTER_ND(dtype, bytes, suffix, ...)                                \
  KERNEL(ScatterND, "scatter_nd_" suffix,                                    \
         Takes({DType::dtype, DType::kInt64, DType::dtype}, {DType::dtype}), \
         "scatter.cc", .accepts = &AcceptsScatterBytes,                      \
         .run = &RunScatterNDBytes<bytes>, .caps = {.in_place_inputs = 0b1})
#define SCATTER_ND_REDUCE(T, suffix, ...)                                 \
  KERNEL(ScatterND, "scatter_nd_reduce_" suffix,                          \
         Takes({kDTypeOf<T>, DType::kInt64, kDTypeOf<T>}, {kDTypeOf<T>}), \
         "scatter.cc", .run = &RunScatterNDReduce<T>,                     \
         .caps = {.in_place_inputs = 0b1})

#define RESIZE_NEAREST(dtype, bytes, suffix, op, name)                       \
  KERNEL(                                                                    \
      op, name "_nearest_" suffix,                                           \
      Takes({DType::dtype, DType::kFloat32, DType::kFloat32, DType::kInt64}, \
            {DType::dtype}),                                                 \
      "resize.cc", .accepts = &AcceptsResizeNearest,                         \
      .prepare = &PrepareResize, .cost = &ResizeCost,                        \
      .run = &RunResizeNearest<bytes>)
#define RESIZE_WEIGHTED(T, suffix, op, name)                                   \
  KERNEL(op, name "_" suffix,                                                  \
         Takes({kDTypeOf<T>, DType::kFloat32, DType::kFloat32, DType::kInt64}, \
               {kDTypeOf<T>}),                                                 \
         "resize.cc", .accepts = &AcceptsResizeWeighted,                       \
         .workspace_bytes = &ResizeWorkspaceBytes, .prepare = &PrepareResize,  \
         .cost = &ResizeCost, .run = &RunResizeWeighted<T>)
#define RESIZE(op, name)                                                  \
  BYTES(RESIZE_NEAREST, op, name), ALL_FLOATS(RESIZE_WEIGHTED, op, name), \
      RESIZE_WEIGHTED(int8_t, "i8", op, name),                            \
      RESIZE_WEIGHTED(uint8_t, "u8", op, name),                           \
      RESIZE_WEIGHTED(int32_t, "i32", op, name)

// Operators that copy the elements of input 0 as bytes; input 1 says how, and
// is not read by the kernel.
#define COPY_LIKE(dtype, bytes, suffix, op, name, file)                  \
  KERNEL(op, name "_" suffix,                                            \
         Takes({DType::dtype, DType::kUndefined}, {DType::dtype}), file, \
         .run = &Run##op<bytes>)
#define DROPOUT(dtype, bytes, suffix)                                         \
  KERNEL(                                                                     \
      Dropout, "dropout_" suffix,                                             \
      Takes({DType::dtype, DType::kUndefined}, {DType::dtype, DType::kBool}), \
      "dropout.cc", .run = &RunDropout<bytes>,                                \
      .caps = {.in_place_inputs = 0b1})
#define EINSUM(T, suffix, ...)                                    \
  KERNEL(Einsum, "einsum_" suffix, All(kDTypeOf<T>), "einsum.cc", \
         .workspace_bytes = &EinsumWorkspaceBytes<T>,             \
         .prepare = &PrepareEinsum<T>, .cost = &EinsumCost,       \
         .run = &RunEinsum<T>)
// The mask may be bool as well, which the kernel asks for.
#define ATTENTION(T, suffix, ...)                                         \
  KERNEL(Attention, "attention_" suffix,                                  \
         Takes({kDTypeOf<T>, kDTypeOf<T>, kDTypeOf<T>, DType::kUndefined, \
                kDTypeOf<T>, kDTypeOf<T>, DType::kInt64},                 \
               {kDTypeOf<T>}),                                            \
         "attention.cc", .workspace_bytes = &AttentionWorkspaceBytes,     \
         .prepare = &PrepareAttention, .cost = &AttentionCost,            \
         .run = &RunAttention<T>, .caps = {.takes_packed_qkv = true})
#define ROTARY_EMBEDDING(T, suffix)                                    \
  KERNEL(RotaryEmbedding, "rotary_embedding_" suffix,                  \
         Takes({kDTypeOf<T>, kDTypeOf<T>, kDTypeOf<T>, DType::kInt64}, \
               {kDTypeOf<T>}),                                         \
         "rotary_embedding.cc", .run = &RunRotaryEmbedding<T>,         \
         .caps = {.in_place_inputs = 0b1})
// With a seed a draw is the same on every run. The input of a Like, of any
// dtype, is not read.
#define RANDOM(T, suffix, op, name, run_)                                    \
  KERNEL(op, name "_" suffix "_seeded",                                      \
         Takes({DType::kUndefined}, {kDTypeOf<T>}), "random.cc",             \
         .accepts = &AcceptsSeeded, .run = &run_<T>),                        \
      KERNEL(op, name "_" suffix, Takes({DType::kUndefined}, {kDTypeOf<T>}), \
             "random.cc", .run = &run_<T>,                                   \
             .caps = {.is_deterministic = false})
#define BERNOULLI(T, suffix, ...)                                    \
  KERNEL(Bernoulli, "bernoulli_" suffix "_seeded",                   \
         Takes({DType::kUndefined}, {kDTypeOf<T>}), "random.cc",     \
         .accepts = &AcceptsSeeded, .prepare = &PrepareBernoulli,    \
         .run = &RunBernoulli<T>),                                   \
      KERNEL(Bernoulli, "bernoulli_" suffix,                         \
             Takes({DType::kUndefined}, {kDTypeOf<T>}), "random.cc", \
             .prepare = &PrepareBernoulli, .run = &RunBernoulli<T>,  \
             .caps = {.is_deterministic = false})
#define MULTINOMIAL(T, suffix, Index, index)                            \
  KERNEL(Multinomial, "multinomial_" suffix "_" index "_seeded",        \
         Takes({kDTypeOf<T>}, {kDTypeOf<Index>}), "multinomial.cc",     \
         .accepts = &AcceptsSeeded,                                     \
         .workspace_bytes = &MultinomialWorkspaceBytes,                 \
         .run = &RunMultinomial<T, Index>),                             \
      KERNEL(Multinomial, "multinomial_" suffix "_" index,              \
             Takes({kDTypeOf<T>}, {kDTypeOf<Index>}), "multinomial.cc", \
             .workspace_bytes = &MultinomialWorkspaceBytes,             \
             .run = &RunMultinomial<T, Index>,                          \
             .caps = {.is_deterministic = false})
// Axis, length and step are known before the run, whatever their dtype.
#define DFT(T, suffix, ...)                                                \
  KERNEL(DFT, "dft_" suffix,                                               \
         Takes({kDTypeOf<T>, DType::kUndefined}, {kDTypeOf<T>}), "dft.cc", \
         .accepts = &AcceptsDft, .workspace_bytes = &DftWorkspaceBytes<T>, \
         .prepare = &PrepareDft<T>, .cost = &DftCost, .run = &RunDft<T>)
#define STFT(T, suffix, ...)                                                  \
  KERNEL(                                                                     \
      STFT, "stft_" suffix,                                                   \
      Takes({kDTypeOf<T>, DType::kUndefined, kDTypeOf<T>, DType::kUndefined}, \
            {kDTypeOf<T>}),                                                   \
      "stft.cc", .accepts = &AcceptsStft,                                     \
      .workspace_bytes = &StftWorkspaceBytes<T>, .prepare = &PrepareStft<T>,  \
      .cost = &StftCost, .run = &RunStft<T>)
#define MEL_WEIGHT_MATRIX(T, suffix, ...)                                   \
  KERNEL(MelWeightMatrix, "mel_weight_matrix_" suffix,                      \
         Takes({DType::kUndefined}, {kDTypeOf<T>}), "mel_weight_matrix.cc", \
         .prepare = &PrepareMelWeightMatrix, .run = &RunMelWeightMatrix<T>)
// The size is the output's extent, whatever its dtype.
#define WINDOW(T, suffix, op, name)                                      \
  KERNEL(op, name "_" suffix, Takes({DType::kUndefined}, {kDTypeOf<T>}), \
         "window_functions.cc", .run = &Run##op<T>)
#define AFFINE_GRID(T, suffix, ...)                                            \
  KERNEL(AffineGrid, "affine_grid_" suffix,                                    \
         Takes({kDTypeOf<T>, DType::kInt64}, {kDTypeOf<T>}), "affine_grid.cc", \
         .run = &RunAffineGrid<T>)
#define DEFORM_CONV(T, suffix, ...)                           \
  KERNEL(DeformConv, "deform_conv_" suffix, All(kDTypeOf<T>), \
         "deform_conv.cc", .accepts = &AcceptsDeformConv,     \
         .workspace_bytes = &DeformConvWorkspaceBytes,        \
         .cost = &DeformConvCost, .run = &RunDeformConv<T>)
#define DET(T, suffix, ...)                                       \
  KERNEL(Det, "det_" suffix, All(kDTypeOf<T>), "det.cc",          \
         .workspace_bytes = &DetWorkspaceBytes, .cost = &DetCost, \
         .run = &RunDet<T>)

// The grid's dtype need not be x's.
#define GRID_SAMPLE(T, suffix, Grid, grid)                    \
  KERNEL(GridSample, "grid_sample_" suffix "_" grid,          \
         Takes({kDTypeOf<T>, kDTypeOf<Grid>}, {kDTypeOf<T>}), \
         "grid_sample.cc", .cost = &GridSampleCost,           \
         .run = &RunGridSample<T, Grid>)
#define ROI_ALIGN(T, suffix, ...)                                         \
  KERNEL(RoiAlign, "roi_align_" suffix,                                   \
         Takes({kDTypeOf<T>, kDTypeOf<T>, DType::kInt64}, {kDTypeOf<T>}), \
         "roi_align.cc", .run = &RunRoiAlign<T>)
#define COMPRESS(dtype, bytes, suffix, ...)                                  \
  KERNEL(Compress, "compress_" suffix,                                       \
         Takes({DType::dtype, DType::kBool}, {DType::dtype}), "compress.cc", \
         .run = &RunCompress<bytes>)
#define EYE_LIKE(T, suffix, ...)                                   \
  KERNEL(EyeLike, "eye_like_" suffix,                              \
         Takes({DType::kUndefined}, {kDTypeOf<T>}), "eye_like.cc", \
         .run = &RunEyeLike<T>)
#define HARDMAX(T, suffix, ...)                                      \
  KERNEL(Hardmax, "hardmax_" suffix, All(kDTypeOf<T>), "hardmax.cc", \
         .run = &RunHardmax<T>)
#define MEAN_VARIANCE(T, suffix, ...)                                      \
  KERNEL(MeanVarianceNormalization, "mean_variance_normalization_" suffix, \
         All(kDTypeOf<T>), "mean_variance_normalization.cc",               \
         .run = &RunMeanVarianceNormalization<T>,                          \
         .caps = {.in_place_inputs = 0b1})
#define ONE_HOT(dtype, bytes, suffix, Index, index)                \
  KERNEL(OneHot, "one_hot_" suffix "_" index,                      \
         Takes({kDTypeOf<Index>, DType::kUndefined, DType::dtype}, \
               {DType::dtype}),                                    \
         "one_hot.cc", .run = &RunOneHot<bytes, Index>)
#define TOP_K(T, suffix, ...)                                               \
  KERNEL(TopK, "top_k_" suffix,                                             \
         Takes({kDTypeOf<T>, DType::kInt64}, {kDTypeOf<T>, DType::kInt64}), \
         "top_k.cc", .workspace_bytes = &TopKWorkspaceBytes,                \
         .run = &RunTopK<T>)
// Elements of E are compared as T.
#define UNIQUE_AS(E, T, suffix)                                           \
  KERNEL(Unique, "unique_" suffix,                                        \
         Takes({kDTypeOf<E>}, {kDTypeOf<E>, DType::kInt64}), "unique.cc", \
         .workspace_bytes = &UniqueWorkspaceBytes, .run = &RunUnique<T>)
#define UNIQUE(T, suffix, ...) UNIQUE_AS(T, T, suffix)

#define COL2IM(T, suffix, ...)                                            \
  KERNEL(Col2Im, "col2im_" suffix,                                        \
         Takes({kDTypeOf<T>, DType::kInt64}, {kDTypeOf<T>}), "col2im.cc", \
         .workspace_bytes = &Col2ImWorkspaceBytes, .run = &RunCol2Im<T>)

#define CONV_TRANSPOSE(T, suffix, ...)                                        \
  KERNEL(ConvTranspose, "conv_transpose_" suffix "_direct", All(kDTypeOf<T>), \
         "conv_transpose_direct.cc", .accepts = &AcceptsConvTransposeDirect,  \
         .prepare = &PrepareEpilogue, .cost = &ConvTransposeCost,             \
         .run = &RunConvTransposeDirect<T>, .caps = {.takes_epilogue = true})

// Weights, biases and states are of x's dtype; the lengths are integers.
#define RECURRENT(T, suffix, op, Name, name)                        \
  KERNEL(op, name "_" suffix,                                       \
         Takes({kDTypeOf<T>, kDTypeOf<T>, kDTypeOf<T>, kDTypeOf<T>, \
                DType::kInt32, kDTypeOf<T>},                        \
               {kDTypeOf<T>}),                                      \
         name ".cc", .workspace_bytes = &Name##WorkspaceBytes<T>,   \
         .cost = &Name##Cost, .run = &Run##op<T>)

// Scales of each floating type, which need not be x's.
#define QUANTIZE_AS(X, x, S, s, Q, q)                                   \
  KERNEL(QuantizeLinear, "quantize_linear_" x "_" s "_" q,              \
         Takes({kDTypeOf<X>, kDTypeOf<S>, kDTypeOf<Q>}, {kDTypeOf<Q>}), \
         "quantize_linear.cc", .run = &RunQuantizeLinear<X, S, Q>)
#define QUANTIZE_BY(X, x, S, s)                \
  QUANTIZE_AS(X, x, S, s, int8_t, "i8"),       \
      QUANTIZE_AS(X, x, S, s, uint8_t, "u8"),  \
      QUANTIZE_AS(X, x, S, s, int16_t, "i16"), \
      QUANTIZE_AS(X, x, S, s, uint16_t, "u16")
#define QUANTIZE(X, x)                                                \
  QUANTIZE_BY(X, x, float, "f32"), QUANTIZE_BY(X, x, Float16, "f16"), \
      QUANTIZE_BY(X, x, BFloat16, "bf16")
#define DEQUANTIZE_BY(Q, q, S, s)                                             \
  KERNEL(DequantizeLinear, "dequantize_linear_" q "_" s,                      \
         Takes({kDTypeOf<Q>, kDTypeOf<S>, kDTypeOf<Q>}, {DType::kUndefined}), \
         "dequantize_linear.cc", .run = &RunDequantizeLinear<Q, S>)
#define DEQUANTIZE(Q, q)                                                  \
  DEQUANTIZE_BY(Q, q, float, "f32"), DEQUANTIZE_BY(Q, q, Float16, "f16"), \
      DEQUANTIZE_BY(Q, q, BFloat16, "bf16")
// The dtypes of 8 bits and less that C++ lacks, told apart when the node is
// prepared.
#define QUANTIZE_SMALL_BY(X, x, S, s)                           \
  KERNEL(QuantizeLinear, "quantize_linear_small_" x "_" s,      \
         Takes({kDTypeOf<X>, kDTypeOf<S>, DType::kUndefined},   \
               {DType::kUndefined}),                            \
         "quantize_small.cc", .accepts = &AcceptsQuantizeSmall, \
         .prepare = &PrepareQuantizeSmall, .run = &RunQuantizeSmall<X, S>)
#define QUANTIZE_SMALL(X, x)                   \
  QUANTIZE_SMALL_BY(X, x, float, "f32"),       \
      QUANTIZE_SMALL_BY(X, x, Float16, "f16"), \
      QUANTIZE_SMALL_BY(X, x, BFloat16, "bf16")
#define DEQUANTIZE_SMALL(S, s, ...)                                 \
  KERNEL(DequantizeLinear, "dequantize_linear_small_" s,            \
         Takes({DType::kUndefined, kDTypeOf<S>, DType::kUndefined}, \
               {DType::kUndefined}),                                \
         "quantize_small.cc", .accepts = &AcceptsDequantizeSmall,   \
         .prepare = &PrepareDequantizeSmall, .run = &RunDequantizeSmall<S>)

// Operators of two 8-bit integers, each signed or not.
#define BYTE_PAIRS(ROW)                                              \
  ROW(int8_t, "i8", int8_t, "i8"), ROW(int8_t, "i8", uint8_t, "u8"), \
      ROW(uint8_t, "u8", int8_t, "i8"), ROW(uint8_t, "u8", uint8_t, "u8")
#define CONV_INTEGER(X, x, W, w)                                     \
  KERNEL(ConvInteger, "conv_integer_" x "_" w,                       \
         Takes({kDTypeOf<X>, kDTypeOf<W>, kDTypeOf<X>, kDTypeOf<W>}, \
               {DType::kInt32}),                                     \
         "conv_integer.cc", .accepts = &AcceptsConvInteger,          \
         .cost = &ConvIntegerCost, .run = &RunConvInteger<X, W>)
#define ONEDNN_CONV_INTEGER(X, x, W, w)                                  \
  ONEDNN_AS(ConvInteger, "conv_integer_" x "_" w "_onednn",              \
            (Takes({kDTypeOf<X>, kDTypeOf<W>, kDTypeOf<X>, kDTypeOf<W>}, \
                   {DType::kInt32})),                                    \
            ConvInteger, &onednn::RunConvInteger<X>,                     \
            .caps = {.takes_channels_last = true})
#define MATMUL_INTEGER(A, a, B, b)                                   \
  KERNEL(MatMulInteger, "matmul_integer_" a "_" b,                   \
         Takes({kDTypeOf<A>, kDTypeOf<B>, kDTypeOf<A>, kDTypeOf<B>}, \
               {DType::kInt32}),                                     \
         "matmul_integer.cc", .cost = &MatMulIntegerCost,            \
         .run = &RunMatMulInteger<A, B>)
#define ONEDNN_MATMUL_INTEGER(A, a, B, b)                                \
  ONEDNN_AS(MatMulInteger, "matmul_integer_" a "_" b "_onednn",          \
            (Takes({kDTypeOf<A>, kDTypeOf<B>, kDTypeOf<A>, kDTypeOf<B>}, \
                   {DType::kInt32})),                                    \
            MatMulInteger, (&onednn::RunMatMulInteger<A, B>))
#define ONEDNN_QLINEAR_MATMUL_AS(A, a, B, b, Y, y)                         \
  ONEDNN_AS(                                                               \
      QLinearMatMul, "qlinear_matmul_" a "_" b "_" y "_f32_onednn",        \
      (Takes({kDTypeOf<A>, DType::kFloat32, kDTypeOf<A>, kDTypeOf<B>,      \
              DType::kFloat32, kDTypeOf<B>, DType::kFloat32, kDTypeOf<Y>}, \
             {kDTypeOf<Y>})),                                              \
      QLinearMatMul, (&onednn::RunQLinearMatMul<A, B, Y>))
#define ONEDNN_QLINEAR_MATMUL(A, a, B, b)             \
  ONEDNN_QLINEAR_MATMUL_AS(A, a, B, b, int8_t, "i8"), \
      ONEDNN_QLINEAR_MATMUL_AS(A, a, B, b, uint8_t, "u8")
// The last dtype is y_zero_point's, and stands for the bias's as well.
#define QLINEAR_CONV_AS(X, x, W, w, Y, y)                               \
  KERNEL(QLinearConv, "qlinear_conv_" x "_" w "_" y,                    \
         Takes({kDTypeOf<X>, DType::kFloat32, kDTypeOf<X>, kDTypeOf<W>, \
                DType::kFloat32, kDTypeOf<W>, DType::kFloat32,          \
                DType::kUndefined},                                     \
               {kDTypeOf<Y>}),                                          \
         "qlinear_conv.cc", .accepts = &AcceptsQLinearConv,             \
         .cost = &QLinearConvCost, .run = &RunQLinearConv<X, W, Y>)
#define QLINEAR_CONV(X, x, W, w)             \
  QLINEAR_CONV_AS(X, x, W, w, int8_t, "i8"), \
      QLINEAR_CONV_AS(X, x, W, w, uint8_t, "u8")
#define ONEDNN_QLINEAR_CONV_AS(X, x, W, w, Y, y)                            \
  ONEDNN_AS(QLinearConv, "qlinear_conv_" x "_" w "_" y "_onednn",           \
            (Takes({kDTypeOf<X>, DType::kFloat32, kDTypeOf<X>, kDTypeOf<W>, \
                    DType::kFloat32, kDTypeOf<W>, DType::kFloat32,          \
                    DType::kUndefined},                                     \
                   {kDTypeOf<Y>})),                                         \
            QLinearConv, &onednn::RunQLinearConv,                           \
            .caps = {.takes_epilogue = true, .takes_channels_last = true})
#define ONEDNN_QLINEAR_CONV(X, x, W, w)             \
  ONEDNN_QLINEAR_CONV_AS(X, x, W, w, int8_t, "i8"), \
      ONEDNN_QLINEAR_CONV_AS(X, x, W, w, uint8_t, "u8")
#define QLINEAR_MATMUL_AS(A, a, B, b, Y, y, S, s)                    \
  KERNEL(QLinearMatMul, "qlinear_matmul_" a "_" b "_" y "_" s,       \
         Takes({kDTypeOf<A>, kDTypeOf<S>, kDTypeOf<A>, kDTypeOf<B>,  \
                kDTypeOf<S>, kDTypeOf<B>, kDTypeOf<S>, kDTypeOf<Y>}, \
               {kDTypeOf<Y>}),                                       \
         "qlinear_matmul.cc", .cost = &QLinearMatMulCost,            \
         .run = &RunQLinearMatMul<A, B, Y, S>)
#define QLINEAR_MATMUL_BY(A, a, B, b, S, s)          \
  QLINEAR_MATMUL_AS(A, a, B, b, int8_t, "i8", S, s), \
      QLINEAR_MATMUL_AS(A, a, B, b, uint8_t, "u8", S, s)
#define QLINEAR_MATMUL(A, a, B, b)                   \
  QLINEAR_MATMUL_BY(A, a, B, b, float, "f32"),       \
      QLINEAR_MATMUL_BY(A, a, B, b, Float16, "f16"), \
      QLINEAR_MATMUL_BY(A, a, B, b, BFloat16, "bf16")

#define CAST(To, to, From, from)                                             \
  KERNEL(Cast, "cast_" from "_" to, Takes({kDTypeOf<From>}, {kDTypeOf<To>}), \
         "cast.cc", .run = &RunCast<From, To>)
#define CASTS(From, from) \
  ALL_NUMBERS(CAST, From, from), CAST(bool, "bool", From, from)
#define CAST_LIKE(To, to, From, from)                                \
  KERNEL(CastLike, "cast_like_" from "_" to,                         \
         Takes({kDTypeOf<From>, DType::kUndefined}, {kDTypeOf<To>}), \
         "cast.cc", .run = &RunCast<From, To>)
#define CASTS_LIKE(From, from) \
  ALL_NUMBERS(CAST_LIKE, From, from), CAST_LIKE(bool, "bool", From, from)
// From a small dtype to any, and from any to a small one.
#define SMALL_CASTS(dtype, suffix, op, name)                                   \
  KERNEL(op, name "_" suffix "_any",                                           \
         Takes({DType::dtype, DType::kUndefined}, {DType::kUndefined}),        \
         "cast_small.cc", .prepare = &PrepareCastSmall, .run = &RunCastSmall), \
      KERNEL(op, name "_any_" suffix,                                          \
             Takes({DType::kUndefined}, {DType::dtype}), "cast_small.cc",      \
             .prepare = &PrepareCastSmall, .run = &RunCastSmall)
#define ALL_SMALL_CASTS(op, name)                                              \
  SMALL_CASTS(kFloat8E4M3FN, "f8e4m3fn", op, name),                            \
      SMALL_CASTS(kFloat8E4M3FNUZ, "f8e4m3fnuz", op, name),                    \
      SMALL_CASTS(kFloat8E5M2, "f8e5m2", op, name),                            \
      SMALL_CASTS(kFloat8E5M2FNUZ, "f8e5m2fnuz", op, name),                    \
      SMALL_CASTS(kFloat8E8M0, "f8e8m0", op, name),                            \
      SMALL_CASTS(kFloat4E2M1, "f4e2m1", op, name),                            \
      SMALL_CASTS(kInt4, "i4", op, name), SMALL_CASTS(kUInt4, "u4", op, name), \
      SMALL_CASTS(kInt2, "i2", op, name), SMALL_CASTS(kUInt2, "u2", op, name)
#define GATHER(dtype, bytes, suffix, Index, index)                            \
  KERNEL(Gather, "gather_" suffix "_" index,                                  \
         Takes({DType::dtype, kDTypeOf<Index>}, {DType::dtype}), "gather.cc", \
         .run = &RunGather<bytes, Index>)
#define PAD(dtype, bytes, suffix, axes_dtype, axes)                            \
  KERNEL(Pad, "pad_" suffix axes,                                              \
         Takes({DType::dtype, DType::kInt64, DType::dtype, DType::axes_dtype}, \
               {DType::dtype}),                                                \
         "pad.cc", .accepts = &AcceptsPad, .prepare = &PreparePad,             \
         .run = &RunPad<bytes>)

// Scores and weights of T, targets of Index.
#define LOSS(T, suffix, op, name, Index, index)                                \
  KERNEL(op, name "_" suffix "_" index,                                        \
         Takes({kDTypeOf<T>, kDTypeOf<Index>, kDTypeOf<T>}, {kDTypeOf<T>}),    \
         "loss.cc", .workspace_bytes = &LossWorkspaceBytes, .cost = &LossCost, \
         .run = &Run##op<T, Index>)
// A learning rate of Rate.
#define OPTIMIZER(T, suffix, op, name, Rate, rate)                           \
  KERNEL(op, name "_" suffix "_" rate,                                       \
         Takes({kDTypeOf<Rate>, DType::kInt64, kDTypeOf<T>}, {kDTypeOf<T>}), \
         "optimizers.cc", .run = &Run##op<T, Rate>)
#define OPTIMIZERS(op, name)                 \
  FLOATS(OPTIMIZER, op, name, float, "f32"), \
      FLOATS(OPTIMIZER, op, name, double, "f64")

#define CAUSAL_CONV(T, suffix)                                        \
  KERNEL(CausalConvWithState, "causal_conv_with_state_" suffix,       \
         All(kDTypeOf<T>), "causal_conv.cc", .cost = &CausalConvCost, \
         .run = &RunCausalConvWithState<T>)
// S is the dtype of the states.
#define LINEAR_ATTENTION(T, suffix, S, s)                           \
  KERNEL(LinearAttention, "linear_attention_" suffix "_" s,         \
         Takes({kDTypeOf<T>, kDTypeOf<T>, kDTypeOf<T>, kDTypeOf<S>, \
                kDTypeOf<T>, kDTypeOf<T>},                          \
               {kDTypeOf<T>, kDTypeOf<S>}),                         \
         "linear_attention.cc",                                     \
         .workspace_bytes = &LinearAttentionWorkspaceBytes,         \
         .cost = &LinearAttentionCost, .run = &RunLinearAttention<T, S>)
#define LINEAR_ATTENTIONS(T, suffix)               \
  LINEAR_ATTENTION(T, suffix, float, "f32"),       \
      LINEAR_ATTENTION(T, suffix, Float16, "f16"), \
      LINEAR_ATTENTION(T, suffix, BFloat16, "bf16")
#define TENSOR_SCATTER(dtype, bytes, suffix, ...)                            \
  KERNEL(TensorScatter, "tensor_scatter_" suffix,                            \
         Takes({DType::dtype, DType::dtype, DType::kInt64}, {DType::dtype}), \
         "tensor_scatter.cc", .run = &RunTensorScatter<bytes>,               \
         .caps = {.in_place_inputs = 0b1})

// What only compile passes make.
#define ELEMENTWISE_CHAIN(T, suffix, ...)                                 \
  KERNEL(ElementwiseChain, "elementwise_chain_" suffix, All(kDTypeOf<T>), \
         "elementwise_chain.cc", .accepts = &AcceptsElementwiseChain,     \
         .prepare = &PrepareElementwiseChain<T>,                          \
         .cost = &ElementwiseChainCost, .run = &RunElementwiseChain<T>,   \
         .caps = {.in_place_inputs = 0xff})

#endif  // TENSORD_BACKENDS_CPU_KERNEL_ROWS_H_
