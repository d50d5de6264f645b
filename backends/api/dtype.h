#ifndef TENSORD_BACKENDS_API_DTYPE_H_
#define TENSORD_BACKENDS_API_DTYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace tensord {

// The type of a tensor's elements.
//
// The numbers are those of ONNX's TensorProto.DataType, so that no table stands
// between a file, the wire and the engine. Not every number has kernels; which
// do is the binding table's business.
//
// Threading and ownership: plain values; every function here is pure.
enum class DType : uint8_t {
  kUndefined = 0,
  kFloat32 = 1,
  kUInt8 = 2,
  kInt8 = 3,
  kUInt16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kFloat64 = 11,
  kUInt32 = 12,
  kUInt64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBFloat16 = 16,
  kFloat8E4M3FN = 17,
  kFloat8E4M3FNUZ = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2FNUZ = 20,
  kUInt4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUInt2 = 25,
  kInt2 = 26,
};

inline constexpr int kDTypeCount = 27;

// "float32", "bfloat16", ...; "undefined" for kUndefined and numbers past the
// end.
absl::string_view DTypeName(DType dtype);

// The inverse of DTypeName, for every dtype but kUndefined.
std::optional<DType> DTypeFromName(absl::string_view name);

// The dtype of an ONNX number; nothing for 0 and for numbers that are not
// known.
std::optional<DType> DTypeFromNumber(int64_t number);

// Bits of one element: 2, 4, 8, ... 128. 0 for kUndefined and kString, whose
// elements have no fixed size.
int BitWidth(DType dtype);

// Bytes of `element_count` elements laid out densely; 2- and 4-bit elements are
// packed, low bits first, and the last byte is padded. `element_count` is at
// least 0 and at most kMaxElementCount (shape.h), so this cannot overflow.
inline uint64_t ByteSize(DType dtype, int64_t element_count) {
  return (static_cast<uint64_t>(element_count) * BitWidth(dtype) + 7) / 8;
}

// kFloat32 for float and so on, for the types that C++ has.
template <typename T>
inline constexpr DType kDTypeOf = DType::kUndefined;
template <>
inline constexpr DType kDTypeOf<float> = DType::kFloat32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kFloat64;
template <>
inline constexpr DType kDTypeOf<int8_t> = DType::kInt8;
template <>
inline constexpr DType kDTypeOf<int16_t> = DType::kInt16;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kInt32;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kInt64;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kUInt8;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kUInt16;
template <>
inline constexpr DType kDTypeOf<uint32_t> = DType::kUInt32;
template <>
inline constexpr DType kDTypeOf<uint64_t> = DType::kUInt64;
template <>
inline constexpr DType kDTypeOf<bool> = DType::kBool;

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_DTYPE_H_
