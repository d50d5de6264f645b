#ifndef TENSORD_TOOLS_TENSORDCTL_RANDOM_TENSOR_H_
#define TENSORD_TOOLS_TENSORDCTL_RANDOM_TENSOR_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tensord/v1/types.pb.h"

namespace tensord::ctl {

// A tensor of made-up values: floats of a normal distribution (mean 0, standard
// deviation 1), integers of 0 to 9, booleans of both kinds. The same seed gives
// the same bytes on every machine, up to the last bits of its log() and cos().
// kInvalidArgument for a shape that is too large; kUnimplemented for strings
// and other dtypes without numbers here.
absl::StatusOr<v1::Tensor> RandomTensor(v1::DType dtype,
                                        absl::Span<const int64_t> dims,
                                        uint64_t seed);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_RANDOM_TENSOR_H_
