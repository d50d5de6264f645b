#ifndef TENSORD_TOOLS_TENSORDCTL_NPY_H_
#define TENSORD_TOOLS_TENSORDCTL_NPY_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tensord/v1/types.pb.h"

// NumPy's file format for one array, versions 1 to 3
// (numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
namespace tensord::ctl {

// The array in a file's bytes: little-endian, C order, of floats (f2, f4, f8),
// integers (i1 to i8, u1 to u8) or booleans. kInvalidArgument for everything
// else, with what is there and what would be right; nothing is allocated for
// extents that the bytes do not bear out.
absl::StatusOr<v1::Tensor> ReadNpy(absl::string_view bytes);

// A file's bytes for the tensor, version 1. kUnimplemented for dtypes that
// NumPy does not have, such as bfloat16.
absl::StatusOr<std::string> WriteNpy(const v1::Tensor& tensor);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_NPY_H_
