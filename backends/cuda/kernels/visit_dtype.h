#ifndef TENSORD_BACKENDS_CUDA_KERNELS_VISIT_DTYPE_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_VISIT_DTYPE_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/kernels/number.h"

// From a dtype to the C++ type of its elements: Visit...(dtype, visit) returns
// visit(TypeTag<T>()) for those of a set, and kInternal for any other, which no
// row of the table names.
namespace tensord::cuda {

template <typename T>
struct TypeTag {
  using type = T;
};

inline absl::Status NoKernelFor(DType dtype) {
  return absl::InternalError(absl::StrCat("a row promises ", DTypeName(dtype),
                                          ", its kernel lacks it"));
}

template <typename Visit>
absl::Status VisitFloat(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kFloat32:
      return visit(TypeTag<float>());
    case DType::kFloat64:
      return visit(TypeTag<double>());
    case DType::kFloat16:
      return visit(TypeTag<Half>());
    case DType::kBFloat16:
      return visit(TypeTag<BHalf>());
    default:
      return NoKernelFor(dtype);
  }
}

template <typename Visit>
absl::Status VisitSignedInteger(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kInt8:
      return visit(TypeTag<int8_t>());
    case DType::kInt16:
      return visit(TypeTag<int16_t>());
    case DType::kInt32:
      return visit(TypeTag<int32_t>());
    case DType::kInt64:
      return visit(TypeTag<int64_t>());
    default:
      return NoKernelFor(dtype);
  }
}

template <typename Visit>
absl::Status VisitUnsignedInteger(DType dtype, Visit visit) {
  switch (dtype) {
    case DType::kUInt8:
      return visit(TypeTag<uint8_t>());
    case DType::kUInt16:
      return visit(TypeTag<uint16_t>());
    case DType::kUInt32:
      return visit(TypeTag<uint32_t>());
    case DType::kUInt64:
      return visit(TypeTag<uint64_t>());
    default:
      return NoKernelFor(dtype);
  }
}

inline bool IsFloatDType(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}
inline bool IsUnsignedDType(DType dtype) {
  return dtype == DType::kUInt8 || dtype == DType::kUInt16 ||
         dtype == DType::kUInt32 || dtype == DType::kUInt64;
}

template <typename Visit>
absl::Status VisitInteger(DType dtype, Visit visit) {
  return IsUnsignedDType(dtype) ? VisitUnsignedInteger(dtype, visit)
                                : VisitSignedInteger(dtype, visit);
}

// An unsigned integer of the same width: for kernels that see only bits.
inline DType BitsOf(DType dtype) {
  switch (BitWidth(dtype)) {
    case 8:
      return DType::kUInt8;
    case 16:
      return DType::kUInt16;
    case 32:
      return DType::kUInt32;
    case 64:
      return DType::kUInt64;
    default:
      return DType::kUndefined;
  }
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_VISIT_DTYPE_H_
