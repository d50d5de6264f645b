#ifndef TENSORD_CLIENTS_CPP_TENSORS_H_
#define TENSORD_CLIENTS_CPP_TENSORS_H_

#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tensord/v1/types.pb.h"

namespace tensord {

// The dtype whose elements are Ts; DTYPE_UNSPECIFIED if there is none.
template <typename T>
constexpr v1::DType DTypeOf() {
  if constexpr (std::is_same_v<T, float>) return v1::DTYPE_FLOAT32;
  if constexpr (std::is_same_v<T, double>) return v1::DTYPE_FLOAT64;
  if constexpr (std::is_same_v<T, bool>) return v1::DTYPE_BOOL;
  if constexpr (std::is_same_v<T, int8_t>) return v1::DTYPE_INT8;
  if constexpr (std::is_same_v<T, int16_t>) return v1::DTYPE_INT16;
  if constexpr (std::is_same_v<T, int32_t>) return v1::DTYPE_INT32;
  if constexpr (std::is_same_v<T, int64_t>) return v1::DTYPE_INT64;
  if constexpr (std::is_same_v<T, uint8_t>) return v1::DTYPE_UINT8;
  if constexpr (std::is_same_v<T, uint16_t>) return v1::DTYPE_UINT16;
  if constexpr (std::is_same_v<T, uint32_t>) return v1::DTYPE_UINT32;
  if constexpr (std::is_same_v<T, uint64_t>) return v1::DTYPE_UINT64;
  return v1::DTYPE_UNSPECIFIED;
}

// A tensor of these values, row-major. That their number is the product of
// `dims` is checked by the server.
template <typename T>
v1::Tensor MakeTensor(absl::Span<const int64_t> dims,
                      absl::Span<const T> values) {
  static_assert(DTypeOf<T>() != v1::DTYPE_UNSPECIFIED);
  v1::Tensor tensor;
  tensor.set_dtype(DTypeOf<T>());
  tensor.mutable_dims()->Add(dims.begin(), dims.end());
  tensor.set_data(values.data(), values.size() * sizeof(T));
  return tensor;
}

// The tensor's elements. kInvalidArgument when they are no Ts.
template <typename T>
absl::StatusOr<std::vector<T>> TensorValues(const v1::Tensor& tensor) {
  static_assert(!std::is_same_v<T, bool>, "std::vector<bool> has no storage");
  if (tensor.dtype() != DTypeOf<T>() || tensor.data().size() % sizeof(T) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        tensor.data().size(), " bytes of ", v1::DType_Name(tensor.dtype()),
        " are no elements of ", v1::DType_Name(DTypeOf<T>())));
  }
  std::vector<T> values(tensor.data().size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), tensor.data().data(), tensor.data().size());
  }
  return values;
}

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_TENSORS_H_
