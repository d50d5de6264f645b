#ifndef TENSORD_BACKENDS_CUDA_KERNELS_ROW_MACROS_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_ROW_MACROS_H_

#include "backends/api/kernel.h"

// How families write their rows: macros for one row, and for the rows of an
// operator over a set of dtypes. For sources that define such rows alone.

// A row: operator, name, dtypes, file in this folder, then the rest of
// KernelEntry in its order.
#define TENSORD_CUDA_ROW(op_, name_, dtypes_, file, ...)               \
  ::tensord::KernelEntry {                                             \
    .op = ::tensord::OpKind::k##op_, .dtypes = dtypes_, .name = name_, \
    .source = "backends/cuda/kernels/" file, __VA_ARGS__               \
  }

// Operators that copy elements as bytes: ROW(DType, its bytes, suffix, ...)
// each, for every dtype of whole bytes that has arithmetic on the CPU.
#define TENSORD_CUDA_BYTES(ROW, ...)                                          \
  ROW(kFloat32, 4, "f32", __VA_ARGS__), ROW(kFloat64, 8, "f64", __VA_ARGS__), \
      ROW(kFloat16, 2, "f16", __VA_ARGS__),                                   \
      ROW(kBFloat16, 2, "bf16", __VA_ARGS__),                                 \
      ROW(kInt8, 1, "i8", __VA_ARGS__), ROW(kInt16, 2, "i16", __VA_ARGS__),   \
      ROW(kInt32, 4, "i32", __VA_ARGS__), ROW(kInt64, 8, "i64", __VA_ARGS__), \
      ROW(kUInt8, 1, "u8", __VA_ARGS__), ROW(kUInt16, 2, "u16", __VA_ARGS__), \
      ROW(kUInt32, 4, "u32", __VA_ARGS__),                                    \
      ROW(kUInt64, 8, "u64", __VA_ARGS__), ROW(kBool, 1, "bool", __VA_ARGS__)

// Operators that compute: ROW(C++ type on the device, DType, suffix, ...).
#define TENSORD_CUDA_FLOATS(ROW, ...)            \
  ROW(float, kFloat32, "f32", __VA_ARGS__),      \
      ROW(double, kFloat64, "f64", __VA_ARGS__), \
      ROW(__half, kFloat16, "f16", __VA_ARGS__), \
      ROW(__nv_bfloat16, kBFloat16, "bf16", __VA_ARGS__)
#define TENSORD_CUDA_SIGNED_INTEGERS(ROW, ...)  \
  ROW(int8_t, kInt8, "i8", __VA_ARGS__),        \
      ROW(int16_t, kInt16, "i16", __VA_ARGS__), \
      ROW(int32_t, kInt32, "i32", __VA_ARGS__), \
      ROW(int64_t, kInt64, "i64", __VA_ARGS__)
#define TENSORD_CUDA_UNSIGNED_INTEGERS(ROW, ...)  \
  ROW(uint8_t, kUInt8, "u8", __VA_ARGS__),        \
      ROW(uint16_t, kUInt16, "u16", __VA_ARGS__), \
      ROW(uint32_t, kUInt32, "u32", __VA_ARGS__), \
      ROW(uint64_t, kUInt64, "u64", __VA_ARGS__)
#define TENSORD_CUDA_INTEGERS(ROW, ...)           \
  TENSORD_CUDA_SIGNED_INTEGERS(ROW, __VA_ARGS__), \
      TENSORD_CUDA_UNSIGNED_INTEGERS(ROW, __VA_ARGS__)
#define TENSORD_CUDA_SIGNED_NUMBERS(ROW, ...) \
  TENSORD_CUDA_FLOATS(ROW, __VA_ARGS__),      \
      TENSORD_CUDA_SIGNED_INTEGERS(ROW, __VA_ARGS__)
#define TENSORD_CUDA_NUMBERS(ROW, ...) \
  TENSORD_CUDA_FLOATS(ROW, __VA_ARGS__), TENSORD_CUDA_INTEGERS(ROW, __VA_ARGS__)
// Floats, and the integers that sums and products are made of.
#define TENSORD_CUDA_WIDE_NUMBERS(ROW, ...)       \
  TENSORD_CUDA_FLOATS(ROW, __VA_ARGS__),          \
      ROW(int32_t, kInt32, "i32", __VA_ARGS__),   \
      ROW(int64_t, kInt64, "i64", __VA_ARGS__),   \
      ROW(uint32_t, kUInt32, "u32", __VA_ARGS__), \
      ROW(uint64_t, kUInt64, "u64", __VA_ARGS__)

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_ROW_MACROS_H_
