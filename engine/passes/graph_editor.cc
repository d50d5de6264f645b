#include "engine/passes/graph_editor.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/topological_order.h"

namespace tensord {

GraphEditor::GraphEditor(Graph graph, Inference inference)
    : graph_(std::move(graph)),
      inference_(std::move(inference)),
      entries_(graph_.nodes.size()),
      live_count_(graph_.nodes.size()),
      is_output_(graph_.values.size(), false),
      read_counts_(graph_.values.size(), 0),
      readers_(graph_.values.size()) {
  for (ValueId output : graph_.outputs) {
    is_output_[output] = true;
    ++read_counts_[output];
  }
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    const auto id = static_cast<NodeId>(i);
    Link(id, last_, kNoNode);
    AddReads(id);
  }
}

std::vector<NodeId> GraphEditor::nodes() const {
  std::vector<NodeId> ids;
  ids.reserve(live_count_);
  for (NodeId id = first_; id != kNoNode; id = entries_[id].next) {
    ids.push_back(id);
  }
  return ids;
}

std::optional<Shape> GraphEditor::shape(ValueId id) const {
  const auto& symbolic = type(id).shape;
  if (!symbolic.has_value() || !IsKnown(*symbolic)) return std::nullopt;
  absl::StatusOr<Shape> concrete = ToConcrete(*symbolic);
  if (!concrete.ok()) return std::nullopt;
  return *std::move(concrete);
}

std::vector<NodeId> GraphEditor::readers(ValueId id) {
  std::vector<NodeId>& nodes = readers_[id];
  const auto no_longer = [&](NodeId reader) {
    const Node& node = graph_.nodes[reader];
    return !is_live(reader) || std::find(node.inputs.begin(), node.inputs.end(),
                                         id) == node.inputs.end();
  };
  nodes.erase(std::remove_if(nodes.begin(), nodes.end(), no_longer),
              nodes.end());
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeId a, NodeId b) { return is_before(a, b); });
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

NodeId GraphEditor::only_reader(ValueId id) {
  if (read_counts_[id] != 1 || is_output_[id]) return kNoNode;
  return readers(id)[0];
}

bool GraphEditor::AreInternal(absl::Span<const NodeId> parts,
                              absl::Span<const ValueId> results) const {
  absl::flat_hash_map<ValueId, int64_t> reads;
  for (NodeId part : parts) {
    for (ValueId input : node(part).inputs) {
      if (input != kNoValue) ++reads[input];
    }
  }
  for (NodeId part : parts) {
    for (ValueId output : node(part).outputs) {
      if (std::find(results.begin(), results.end(), output) != results.end()) {
        continue;
      }
      if (read_counts_[output] != reads[output]) return false;
    }
  }
  return true;
}

ValueId GraphEditor::NewValue(TensorType type, HostTensor constant,
                              ValueId origin) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  Value& value = graph_.values.emplace_back();
  value.name = absl::StrCat(graph_.values[origin].name, "#", id);
  if (constant.is_present()) {
    value.type = type;
    value.constant = constant;
  }
  inference_.types.push_back(std::move(type));
  inference_.constants.push_back(std::move(constant));
  is_output_.push_back(false);
  read_counts_.push_back(0);
  readers_.emplace_back();
  return id;
}

ValueId GraphEditor::AddValue(TensorType type, ValueId origin) {
  return NewValue(std::move(type), HostTensor(), origin);
}

ValueId GraphEditor::AddConstant(HostTensor tensor, ValueId origin) {
  TensorType type{tensor.dtype(), ToSymbolic(tensor.shape())};
  return NewValue(std::move(type), std::move(tensor), origin);
}

void GraphEditor::Replace(NodeId id, Node node) {
  DropReads(id);
  SetProducer(graph_.nodes[id], kNoNode);
  graph_.nodes[id] = std::move(node);
  AddReads(id);
}

NodeId GraphEditor::InsertBefore(NodeId at, Node node) {
  return Insert(entries_[at].previous, at, std::move(node));
}

NodeId GraphEditor::InsertAfter(NodeId at, Node node) {
  return Insert(at, entries_[at].next, std::move(node));
}

NodeId GraphEditor::Insert(NodeId previous, NodeId next, Node node) {
  const auto id = static_cast<NodeId>(graph_.nodes.size());
  graph_.nodes.push_back(std::move(node));
  entries_.emplace_back();
  ++live_count_;
  Link(id, previous, next);
  AddReads(id);
  return id;
}

void GraphEditor::Remove(NodeId id) {
  DropReads(id);
  SetProducer(graph_.nodes[id], kNoNode);
  Entry& entry = entries_[id];
  (entry.previous == kNoNode ? first_ : entries_[entry.previous].next) =
      entry.next;
  (entry.next == kNoNode ? last_ : entries_[entry.next].previous) =
      entry.previous;
  entry.is_live = false;
  --live_count_;
}

void GraphEditor::Redirect(ValueId from, ValueId to) {
  for (NodeId id : readers(from)) {
    Node& node = graph_.nodes[id];
    DropReads(id);
    std::replace(node.inputs.begin(), node.inputs.end(), from, to);
    AddReads(id);
  }
}

NodeId GraphEditor::Fuse(absl::Span<const NodeId> parts, Node node) {
  std::vector<NodeId> in_order(parts.begin(), parts.end());
  std::sort(in_order.begin(), in_order.end(),
            [&](NodeId a, NodeId b) { return is_before(a, b); });
  in_order.erase(std::unique(in_order.begin(), in_order.end()), in_order.end());
  node.fused_from.clear();
  for (NodeId part : in_order) {
    const Node& old = graph_.nodes[part];
    if (old.fused_from.empty()) {
      node.fused_from.push_back(old.name);
    } else {
      node.fused_from.insert(node.fused_from.end(), old.fused_from.begin(),
                             old.fused_from.end());
    }
  }
  const NodeId last = in_order.back();
  in_order.pop_back();
  for (NodeId part : in_order) Remove(part);
  Replace(last, std::move(node));
  return last;
}

void GraphEditor::Link(NodeId id, NodeId previous, NodeId next) {
  Entry& entry = entries_[id];
  entry.previous = previous;
  entry.next = next;
  (previous == kNoNode ? first_ : entries_[previous].next) = id;
  (next == kNoNode ? last_ : entries_[next].previous) = id;
  const double low = previous == kNoNode
                         ? (next == kNoNode ? 0 : entries_[next].position - 2)
                         : entries_[previous].position;
  const double high = next == kNoNode ? low + 2 : entries_[next].position;
  entry.position = low + (high - low) / 2;
  if (entry.position <= low || entry.position >= high) Renumber();
}

// Where so many were inserted at one place that there is no number between two.
void GraphEditor::Renumber() {
  double position = 0;
  for (NodeId id = first_; id != kNoNode; id = entries_[id].next) {
    entries_[id].position = ++position;
  }
}

void GraphEditor::AddReads(NodeId id) {
  const Node& node = graph_.nodes[id];
  for (ValueId input : node.inputs) {
    if (input == kNoValue) continue;
    ++read_counts_[input];
    std::vector<NodeId>& nodes = readers_[input];
    if (nodes.empty() || nodes.back() != id) nodes.push_back(id);
  }
  SetProducer(node, id);
}

void GraphEditor::DropReads(NodeId id) {
  for (ValueId input : graph_.nodes[id].inputs) {
    if (input != kNoValue) --read_counts_[input];
  }
}

void GraphEditor::SetProducer(const Node& node, NodeId id) {
  for (ValueId output : node.outputs) {
    if (output != kNoValue) graph_.values[output].producer = id;
  }
}

bool GraphEditor::IsSorted() const {
  for (NodeId id = first_; id != kNoNode; id = entries_[id].next) {
    for (ValueId input : node(id).inputs) {
      const NodeId source = input == kNoValue ? kNoNode : producer(input);
      if (source != kNoNode &&
          entries_[source].position >= entries_[id].position) {
        return false;
      }
    }
  }
  return true;
}

Graph GraphEditor::Finish() {
  std::vector<NodeId> order = nodes();
  if (!IsSorted()) {
    absl::flat_hash_map<NodeId, int32_t> place;
    for (size_t i = 0; i < order.size(); ++i) {
      place[order[i]] = static_cast<int32_t>(i);
    }
    std::vector<std::vector<int32_t>> producers(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      for (ValueId input : node(order[i]).inputs) {
        const NodeId source = input == kNoValue ? kNoNode : producer(input);
        if (source != kNoNode) producers[i].push_back(place[source]);
      }
    }
    std::vector<NodeId> sorted;
    for (int32_t i : SortNodes(producers).order) sorted.push_back(order[i]);
    order = std::move(sorted);
  }
  std::vector<Node> nodes;
  nodes.reserve(order.size());
  for (NodeId id : order) {
    SetProducer(graph_.nodes[id], static_cast<NodeId>(nodes.size()));
    nodes.push_back(std::move(graph_.nodes[id]));
  }
  graph_.nodes = std::move(nodes);
  return std::move(graph_);
}

}  // namespace tensord
