// Bytes as an ONNX model, through everything that comes before kernels are
// chosen.

#include <cstddef>
#include <cstdint>

#include "engine/onnx/onnx_reader.h"
#include "tests/fuzz/check_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tensord::CheckGraph(
      tensord::ReadOnnx({reinterpret_cast<const char*>(data), size},
                        tensord::FuzzLimits()))
      .IgnoreError();
  return 0;
}
