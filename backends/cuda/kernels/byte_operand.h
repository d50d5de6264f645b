#ifndef TENSORD_BACKENDS_CUDA_KERNELS_BYTE_OPERAND_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_BYTE_OPERAND_H_

#include <math.h>

#include <cstdint>
#include <type_traits>

#include "backends/cuda/kernels/device.h"
#include "backends/cuda/kernels/number.h"

// Operands of quantized products: one compiled kernel serves int8 by uint8,
// int8 by int8 and so on, since what they are is a part of its parameters.
namespace tensord::cuda {

// Elements of int8 or uint8; a plain value.
struct Bytes {
  const uint8_t* data = nullptr;  // null: all are 0
  bool is_signed = false;

  Bytes() = default;
  template <typename T>
  explicit Bytes(const T* elements)
      : data(reinterpret_cast<const uint8_t*>(elements)),
        is_signed(std::is_signed_v<T>) {
    static_assert(sizeof(T) == 1);
  }
  __device__ int at(int64_t i) const {
    if (data == nullptr) return 0;
    return is_signed ? static_cast<int8_t>(data[i]) : data[i];
  }
};

// Scales of float32, float16 or bfloat16.
struct Scales {
  const void* data = nullptr;
  DType dtype = DType::kFloat32;

  Scales() = default;
  template <typename T>
  explicit Scales(const T* elements) : data(elements), dtype(kDTypeOf<T>) {}
  __device__ float at(int64_t i) const {
    switch (dtype) {
      case DType::kFloat16:
        return ToCompute(static_cast<const Half*>(data)[i]);
      case DType::kBFloat16:
        return ToCompute(static_cast<const BHalf*>(data)[i]);
      default:
        return static_cast<const float*>(data)[i];
    }
  }
};

// Where a quantized result goes: as the int32 sum, or times a factor, rounded
// to the nearest integer, of two the even one, plus y's zero point, brought to
// the range of y. A NaN gives the zero point. The product is in double, since a
// sum can have more bits than a float.
struct ByteResult {
  int32_t* sums = nullptr;  // null: y it is
  uint8_t* y = nullptr;
  Bytes y_zero;
  Scales y_scale;

  // a_scale and b_scale are not looked at for a sum.
  __device__ void Store(int64_t at, uint32_t sum, float a_scale,
                        float b_scale) const {
    if (sums != nullptr) {
      sums[at] = static_cast<int32_t>(sum);
      return;
    }
    const float factor = a_scale * b_scale / y_scale.at(0);
    const int zero = y_zero.at(0);
    const double least = (y_zero.is_signed ? -128 : 0) - zero;
    const double most = (y_zero.is_signed ? 127 : 255) - zero;
    double x = static_cast<double>(static_cast<int32_t>(sum)) * factor;
    x = x < least ? least : x;
    x = x > most ? most : x;
    x = x == x ? x : 0;
    y[at] = static_cast<uint8_t>(static_cast<int>(rint(x)) + zero);
  }
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_BYTE_OPERAND_H_
