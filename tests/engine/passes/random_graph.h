#ifndef TENSORD_TESTS_ENGINE_PASSES_RANDOM_GRAPH_H_
#define TENSORD_TESTS_ENGINE_PASSES_RANDOM_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/graphs.h"
#include "tests/support/tensor.h"

namespace tensord {

// A small graph that a seed decides, of the patterns that passes look for and
// of operators around them: element-wise chains with broadcasting, products
// with bias, activation and residual, convolutions, layer norms and GELUs
// spelled out, attention, QDQ, movements. Some extents are 0 or 1, some values
// have several users, some are outputs as well. Elements stay of the order of
// 1, so that rounding alone explains no large difference.
//
// Threading and ownership: a plain value.
struct RandomGraph {
  TestGraph graph;
  std::vector<TestTensor> inputs;
  std::string text;           // a line for each node
  bool is_quantized = false;  // results are steps of kQuantum
};

// Of all quantizations in these graphs.
inline constexpr float kQuantum = 1.0f / 32;

RandomGraph MakeRandomGraph(uint64_t seed);

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_PASSES_RANDOM_GRAPH_H_
