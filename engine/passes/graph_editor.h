#ifndef TENSORD_ENGINE_PASSES_GRAPH_EDITOR_H_
#define TENSORD_ENGINE_PASSES_GRAPH_EDITOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// A graph while passes change it: who makes and who reads each value stays
// known from one change to the next. Ids of nodes and values stay what they are
// until Finish(); a removed node's id is not used again, a new node or value
// gets the next one.
//
// Every operation takes time in proportion to the operands that it touches, but
// for nodes() and Finish(), which walk the graph.
//
// Threading: one thread. Ownership: owns its graph; shares constant bytes. What
// it returns by reference stays until the next node or value is added.
class GraphEditor {
 public:
  // `inference` is the graph's.
  GraphEditor(Graph graph, Inference inference);

  // What there is.
  std::vector<NodeId> nodes() const;  // live ones, in order
  size_t node_count() const { return live_count_; }
  bool is_live(NodeId id) const { return entries_[id].is_live; }
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  // kNoNode for an input, a constant, and what no live node makes.
  NodeId producer(ValueId id) const { return graph_.values[id].producer; }
  bool is_output(ValueId id) const { return is_output_[id]; }
  const TensorType& type(ValueId id) const { return inference_.types[id]; }
  // Absent where the value is not known before the run.
  const HostTensor& constant(ValueId id) const {
    return inference_.constants[id];
  }
  const Inference& inference() const { return inference_; }
  const Graph& graph() const { return graph_; }

  // The extents of a value; nothing where one is not known.
  std::optional<Shape> shape(ValueId id) const;

  bool is_before(NodeId a, NodeId b) const {
    return entries_[a].position < entries_[b].position;
  }

  // How often nodes read a value, and the graph returns it.
  int64_t read_count(ValueId id) const { return read_counts_[id]; }
  // The nodes that read it, each once, in order.
  std::vector<NodeId> readers(ValueId id);
  // The only node that reads it, at one place; kNoNode where there are more, or
  // where the graph returns it.
  NodeId only_reader(ValueId id);

  // Whether nobody but `parts` reads what they make, `results` aside.
  bool AreInternal(absl::Span<const NodeId> parts,
                   absl::Span<const ValueId> results) const;

  // A value that a node is yet to make, and a constant; their names are made
  // after `origin`, which they stand for.
  ValueId AddValue(TensorType type, ValueId origin);
  ValueId AddConstant(HostTensor tensor, ValueId origin);

  // Puts a node where another stands, which may make other values and read
  // others. What it made and the new one does not make must have no reader.
  void Replace(NodeId id, Node node);
  NodeId InsertBefore(NodeId at, Node node);
  NodeId InsertAfter(NodeId at, Node node);
  void Remove(NodeId id);  // what it makes must have no reader
  // Whoever reads `from` reads `to`. The graph's outputs stay.
  void Redirect(ValueId from, ValueId to);

  // One node for many: it stands where the last of them stood, and its
  // fused_from lists them all. Parts are live; one that is there twice counts
  // once.
  NodeId Fuse(absl::Span<const NodeId> parts, Node node);

  // The graph as it is now, producers first; the editor is of no use after it.
  Graph Finish();

 private:
  struct Entry {
    bool is_live = true;
    NodeId previous = kNoNode;
    NodeId next = kNoNode;
    // Grows along the list; tells which of two nodes comes first.
    double position = 0;
  };

  NodeId Insert(NodeId previous, NodeId next, Node node);
  void Link(NodeId id, NodeId previous, NodeId next);
  void Renumber();
  void AddReads(NodeId id);
  void DropReads(NodeId id);
  void SetProducer(const Node& node, NodeId id);
  bool IsSorted() const;
  ValueId NewValue(TensorType type, HostTensor constant, ValueId origin);

  Graph graph_;
  Inference inference_;
  std::vector<Entry> entries_;  // by node
  NodeId first_ = kNoNode;
  NodeId last_ = kNoNode;
  size_t live_count_ = 0;
  std::vector<bool> is_output_;       // by value
  std::vector<int64_t> read_counts_;  // by value
  // By value: every node that has read it; those that no longer do are sorted
  // out when somebody asks.
  std::vector<std::vector<NodeId>> readers_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_GRAPH_EDITOR_H_
