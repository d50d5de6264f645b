#ifndef TENSORD_TOOLS_TENSORDCTL_JSON_TENSOR_H_
#define TENSORD_TOOLS_TENSORDCTL_JSON_TENSOR_H_

#include <nlohmann/json_fwd.hpp>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tensord/v1/types.pb.h"

// Tensors as nested lists, outermost extent first, as NumPy's tolist() makes
// them. Numbers that JSON lacks are the strings "nan", "inf" and "-inf".
namespace tensord::ctl {

// The tensor in a JSON text, with elements of `dtype`. kInvalidArgument with
// the place: text that is no JSON, lists of unequal length, elements that are
// no numbers or out of the dtype's range. An empty list is an extent of 0, and
// what would be inside of it has no extents.
absl::StatusOr<v1::Tensor> ReadJsonTensor(absl::string_view text,
                                          v1::DType dtype);

// The tensor as nested lists; for a dtype without numbers here, null.
nlohmann::ordered_json JsonOfTensor(const v1::Tensor& tensor);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_JSON_TENSOR_H_
