#ifndef TENSORD_ENGINE_GRAPH_CONSTANT_NODE_H_
#define TENSORD_ENGINE_GRAPH_CONSTANT_NODE_H_

#include "absl/status/statusor.h"
#include "engine/graph/attributes.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// The tensor that a Constant node stands for: exactly one of `value`,
// `value_float`, `value_floats`, `value_int` and `value_ints`. kUnimplemented
// for `value_string`, `value_strings` and `sparse_value`; kInvalidArgument for
// none, several, others, or one of another type.
// Threading and ownership: pure; shares the bytes of `value`.
absl::StatusOr<HostTensor> ConstantNodeValue(const Attributes& attributes);

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_CONSTANT_NODE_H_
