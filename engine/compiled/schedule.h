#ifndef TENSORD_ENGINE_COMPILED_SCHEDULE_H_
#define TENSORD_ENGINE_COMPILED_SCHEDULE_H_

#include <vector>

#include "absl/status/statusor.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// Which nodes of a graph are launched, in which order, cut into segments.
//
// Threading and ownership: a plain value.
struct Schedule {
  // By value: the value whose bytes it shares, through any number of views;
  // itself for all others.
  std::vector<ValueId> roots;

  // Nodes that launch a kernel, by segment. Dead nodes, views and nodes whose
  // outputs are known before the run are in none.
  std::vector<std::vector<NodeId>> segments;

  // Views that somebody needs; they launch nothing.
  std::vector<NodeId> views;

  // By node whose run tells extents: the cells for all extents of its outputs,
  // in order, whether they are known or not, so that a kernel need not be told
  // which are.
  // Ordered by segment, so the cells of a segment follow each other.
  struct Cells {
    NodeId node = kNoNode;
    int segment = 0;
    std::vector<ExtentBinding> extents;
  };
  std::vector<Cells> cells;
  int32_t cell_count = 0;

  int segment_of(NodeId node) const { return segment_by_node[node]; }
  const Cells* cells_of(NodeId node) const;
  std::vector<int> segment_by_node;  // -1 for nodes that launch nothing
};

// The extents of a value where data-dependent ones stand at their upper bound.
// kResourceExhausted when one has no bound.
absl::StatusOr<Shape> BoundShape(const Inference& inference, ValueId value);

// A node is in the first segment in which all its operands' extents are known;
// within a segment the graph's own order stays.
absl::StatusOr<Schedule> MakeSchedule(const Graph& graph,
                                      const Inference& inference);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_SCHEDULE_H_
