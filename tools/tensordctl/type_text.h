#ifndef TENSORD_TOOLS_TENSORDCTL_TYPE_TEXT_H_
#define TENSORD_TOOLS_TENSORDCTL_TYPE_TEXT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tensord/v1/types.pb.h"

// Types as people write them: "float32[N,1,8,8]".
namespace tensord::ctl {

// "float32"; "?" when it is not given.
std::string DTypeText(v1::DType dtype);

// The dtype of that name, in any case; DTYPE_UNSPECIFIED if there is none.
v1::DType DTypeFromText(absl::string_view text);

// "[1,8,8]"; "[]" for a scalar.
std::string DimsText(absl::Span<const int64_t> dims);

// "float32[N<=64,1,8,8]"; "float32[...]" when not even the rank is known.
std::string TypeText(const v1::ValueInfo& value);

// "float32[1,8,8]".
std::string TypeText(const v1::Tensor& tensor);

// "float32,float32 -> float32"; "any" for a kernel that takes everything.
std::string SignatureText(const v1::DTypeSignature& signature);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_TYPE_TEXT_H_
