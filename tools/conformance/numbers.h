#ifndef TENSORD_TOOLS_CONFORMANCE_NUMBERS_H_
#define TENSORD_TOOLS_CONFORMANCE_NUMBERS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tensord/v1/types.pb.h"

// The elements of tensors of every dtype, as numbers that lose nothing.
namespace tensord::conformance {

// 64 bits of mantissa or more, on every machine that tensord is built for: any
// 64-bit integer is exact.
using Number = long double;

// All elements in row-major order; a complex one is two, the real part first.
// kInvalidArgument when the data's size is not that of dtype and dims, or for
// strings.
absl::StatusOr<std::vector<Number>> Numbers(const v1::Tensor& tensor);

// All elements of a tensor of strings. kInvalidArgument when the data are not
// well formed, or for other dtypes.
absl::StatusOr<std::vector<std::string>> Strings(const v1::Tensor& tensor);

bool IsInteger(v1::DType dtype);

// The least and the largest finite number. Not for strings.
struct Range {
  Number lowest;
  Number highest;
};
Range FiniteRange(v1::DType dtype);

// As short as the dtype allows: "0.1", not "0.10000000149".
std::string NumberText(v1::DType dtype, Number number);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_NUMBERS_H_
