#ifndef TENSORD_TESTS_FUZZ_FUNCTION_SEED_H_
#define TENSORD_TESTS_FUZZ_FUNCTION_SEED_H_

#include <string>

namespace tensord {

// A serialized onnx.ModelProto with functions that call each other, take
// attributes by reference and have bodies: what no GraphDef can say.
std::string OnnxWithFunctions();

}  // namespace tensord

#endif  // TENSORD_TESTS_FUZZ_FUNCTION_SEED_H_
