// Bytes as a tensord.v1.Graph, through everything that comes before kernels are
// chosen.

#include <cstddef>
#include <cstdint>

#include "server/graph_codec/graph_from_proto.h"
#include "tests/fuzz/check_graph.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tensord::CheckGraph(
      tensord::GraphFromProto({reinterpret_cast<const char*>(data), size},
                              tensord::FuzzLimits()))
      .IgnoreError();
  return 0;
}
