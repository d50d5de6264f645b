#ifndef TENSORD_ENGINE_ONNX_VALUE_INFO_H_
#define TENSORD_ENGINE_ONNX_VALUE_INFO_H_

#include "absl/status/statusor.h"
#include "engine/graph/graph_def.h"

namespace tensord {

namespace onnx {
class ValueInfoProto;
}

// Where a declared value is: what a client sends and gets is a tensor, while
// what goes into and out of a body may be a sequence or an optional as well.
enum class ValuePlace { kBorder, kBody };

// The declaration of an input or output. One of a sequence or an optional in a
// body claims nothing: the value has the type that it is found to have.
//
// Threading and ownership: pure.
// Errors: kInvalidArgument for an elem_type that is no dtype; kUnimplemented,
// by
//   name, for sequences and optionals at the border, and everywhere for
//   strings, maps, sparse tensors and opaque values.
absl::StatusOr<ValueDef> ReadOnnxValueInfo(const onnx::ValueInfoProto& proto,
                                           ValuePlace place);

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_VALUE_INFO_H_
