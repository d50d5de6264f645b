#ifndef TENSORD_ENGINE_GRAPH_LIMITS_H_
#define TENSORD_ENGINE_GRAPH_LIMITS_H_

#include <cstdint>

namespace tensord {

// What a client's graph may cost before it is refused. Each is a flag of the
// daemon under the same name ("--max-nodes"); texts name it so.
// Threading and ownership: a plain value, fixed at start.
struct GraphLimits {
  int64_t max_nodes = 100'000;
  int64_t max_values = 400'000;
  int64_t max_operands = 1'600'000;         // inputs of all nodes
  int64_t max_attributes = 64;              // of one node
  int64_t max_nesting_depth = 16;           // graphs in attributes of graphs
  int64_t max_function_depth = 64;          // functions that call functions
  int64_t max_rank = 16;                    // at most kMaxRank
  int64_t max_elements = int64_t{1} << 31;  // of one tensor
  int64_t max_constant_bytes = int64_t{4} << 30;  // of one graph
  int64_t max_folded_bytes = int64_t{64} << 20;  // that folding adds to a graph
  int64_t max_name_bytes = 512;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_LIMITS_H_
