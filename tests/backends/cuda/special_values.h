#ifndef TENSORD_TESTS_BACKENDS_CUDA_SPECIAL_VALUES_H_
#define TENSORD_TESTS_BACKENDS_CUDA_SPECIAL_VALUES_H_

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/support/tensor.h"

// Inputs of nodes that go through what a dtype has at its edges.
namespace tensord::cuda {

inline constexpr DType kFloatDTypes[] = {DType::kFloat32, DType::kFloat16,
                                         DType::kBFloat16, DType::kFloat64};
inline constexpr DType kSignedIntegers[] = {DType::kInt8, DType::kInt16,
                                            DType::kInt32, DType::kInt64};
inline constexpr DType kUnsignedIntegers[] = {DType::kUInt8, DType::kUInt16,
                                              DType::kUInt32, DType::kUInt64};

inline bool IsFloatDType(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 ||
         dtype == DType::kBFloat16 || dtype == DType::kFloat64;
}

inline bool IsUnsignedDType(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 ||
         dtype == DType::kUInt32 || dtype == DType::kUInt64;
}

template <size_t... kCounts>
std::vector<DType> DTypesOf(const DType (&... sets)[kCounts]) {
  std::vector<DType> dtypes;
  (dtypes.insert(dtypes.end(), sets, sets + kCounts), ...);
  return dtypes;
}

// Pattern(), with NaN, infinities, both zeros and large numbers in between, or
// an integer's limits.
inline TestTensor SpecialValues(DType dtype, Shape shape, uint64_t seed = 1) {
  const TestTensor pattern = Pattern(dtype, shape, seed);
  std::vector<double> specials = {0, 1};
  if (IsFloatDType(dtype)) {
    specials = {NAN, INFINITY, -INFINITY, -0.0, 0, 60000, -60000, 1e-7, 0.5};
  } else if (IsUnsignedDType(dtype)) {
    specials.push_back(std::ldexp(1.0, BitWidth(dtype) - 1));
  } else if (dtype != DType::kBool) {
    specials.push_back(-std::ldexp(1.0, BitWidth(dtype) - 1));
    specials.push_back(-1);
  }
  std::vector<double> values;
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    const bool is_special = i % 3 == 1;
    values.push_back(is_special ? specials[(i / 3 + seed) % specials.size()]
                                : pattern.At(i));
  }
  return TensorOf(dtype, std::move(shape), values);
}

// A name's part for shapes: "_of_2_3_of_3".
inline std::string NameOf(const std::vector<Shape>& shapes) {
  std::string name;
  for (const Shape& shape : shapes) {
    absl::StrAppend(&name, "_of");
    for (const int64_t extent : shape.extents()) {
      absl::StrAppend(&name, "_", extent);
    }
  }
  return name;
}

}  // namespace tensord::cuda

#endif  // TENSORD_TESTS_BACKENDS_CUDA_SPECIAL_VALUES_H_
