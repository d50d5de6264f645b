#ifndef TENSORD_SERVER_WIRE_TENSOR_CHECK_H_
#define TENSORD_SERVER_WIRE_TENSOR_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/api/dtype.h"
#include "backends/api/shape.h"
#include "engine/exec/execution.h"

namespace tensord {

// What a tensor on the wire has to be by itself, whatever graph it is for.
// `name` is whose it is, for texts.
//
// Threading and ownership: pure.
// Errors: kInvalidArgument with InvalidTensor; kUnimplemented for strings;
//   kResourceExhausted for max_elements.

// A number that is known and has a fixed size.
absl::StatusOr<DType> CheckedDType(absl::string_view name, uint64_t number);

absl::StatusOr<Shape> CheckedShape(absl::string_view name, const Dims& dims,
                                   int64_t max_elements);

// As many bytes as dtype and shape give, booleans of 0 and 1, and zeroes in the
// unused bits of the last byte.
absl::Status CheckTensorBytes(absl::string_view name, const HostValue& value);

}  // namespace tensord

#endif  // TENSORD_SERVER_WIRE_TENSOR_CHECK_H_
