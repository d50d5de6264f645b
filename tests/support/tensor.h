#ifndef TENSORD_TESTS_SUPPORT_TENSOR_H_
#define TENSORD_TESTS_SUPPORT_TENSOR_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "backends/api/dtype.h"
#include "backends/api/shape.h"

namespace tensord {

// A tensor of a test: dense, row-major, in plain host memory.
// Threading and ownership: a plain value.
struct TestTensor {
  DType dtype = DType::kUndefined;  // kUndefined: an absent optional operand
  Shape shape;
  std::vector<std::byte> bytes;

  bool is_present() const { return dtype != DType::kUndefined; }

  // The elements; T is the C++ type of the dtype.
  template <typename T>
  absl::Span<const T> values() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  // The i-th element as a double, whatever the dtype (exact for all but large
  // 64-bit integers). Aborts for dtypes without arithmetic.
  double At(int64_t i) const;

  friend bool operator==(const TestTensor& a, const TestTensor& b) {
    return a.dtype == b.dtype && a.shape == b.shape && a.bytes == b.bytes;
  }
  // For gtest: "float32 [2, 2] {1, 2, 3, 4}".
  friend void PrintTo(const TestTensor& tensor, std::ostream* out);
};

// Tensor<float>({2, 2}, {1, 2, 3, 4}). The number of values must be the
// shape's element count; anything else aborts.
template <typename T>
TestTensor Tensor(Shape shape, const std::vector<T>& values);

inline TestTensor Tensor(Shape shape, const std::vector<float>& values) {
  return Tensor<float>(std::move(shape), values);
}

// The values converted to `dtype`, rounded to nearest even. Integers take the
// integer part, bool is "not 0".
TestTensor TensorOf(DType dtype, Shape shape,
                    const std::vector<double>& values);

// Values that differ from element to element and from seed to seed, the same on
// every run: in [-2, 2) with steps of 1/64 for floating types (exact in every
// one of them but the 8-bit ones), small integers else.
TestTensor Pattern(DType dtype, Shape shape, uint64_t seed = 1);

// Implementation.

TestTensor TensorOfBytes(DType dtype, Shape shape, const void* data,
                         size_t size_bytes);

template <typename T>
TestTensor Tensor(Shape shape, const std::vector<T>& values) {
  static_assert(kDTypeOf<T> != DType::kUndefined);
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return TensorOfBytes(DType::kBool, std::move(shape), bytes.data(),
                         bytes.size());
  } else {
    return TensorOfBytes(kDTypeOf<T>, std::move(shape), values.data(),
                         values.size() * sizeof(T));
  }
}

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_TENSOR_H_
