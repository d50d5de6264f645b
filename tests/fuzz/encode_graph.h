#ifndef TENSORD_TESTS_FUZZ_ENCODE_GRAPH_H_
#define TENSORD_TESTS_FUZZ_ENCODE_GRAPH_H_

#include <string>

#include "engine/graph/graph_def.h"

namespace tensord {

// A definition as a client would have sent it. Threading and ownership: pure.

// A serialized tensord.v1.Graph. Inputs that are initializers too are left out:
// the message does not allow them.
std::string EncodeGraph(const GraphDef& def);

// A serialized onnx.ModelProto, tensors in raw_data.
std::string EncodeOnnx(const GraphDef& def);

}  // namespace tensord

#endif  // TENSORD_TESTS_FUZZ_ENCODE_GRAPH_H_
