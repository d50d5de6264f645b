#ifndef TENSORD_ENGINE_OPS_DTYPE_SETS_H_
#define TENSORD_ENGINE_OPS_DTYPE_SETS_H_

#include "backends/api/dtype.h"

namespace tensord {

// Sets of dtypes that the standard's type constraints name over and over.
inline constexpr DType kFloatDTypes[] = {DType::kFloat32, DType::kFloat64,
                                         DType::kFloat16, DType::kBFloat16};
inline constexpr DType kSignedDTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt8,    DType::kInt16,   DType::kInt32,   DType::kInt64};
inline constexpr DType kNumericDTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt8,    DType::kInt16,   DType::kInt32,   DType::kInt64,
    DType::kUInt8,   DType::kUInt16,  DType::kUInt32,  DType::kUInt64};
inline constexpr DType kIntegerDTypes[] = {
    DType::kInt8,  DType::kInt16,  DType::kInt32,  DType::kInt64,
    DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64};
inline constexpr DType kNumericOrBoolDTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt8,    DType::kInt16,   DType::kInt32,   DType::kInt64,
    DType::kUInt8,   DType::kUInt16,  DType::kUInt32,  DType::kUInt64,
    DType::kBool};
// MatMul's and Gemm's: no narrow integers.
inline constexpr DType kMatMulDTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt32,   DType::kInt64,   DType::kUInt32,  DType::kUInt64};

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_DTYPE_SETS_H_
