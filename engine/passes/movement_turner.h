#ifndef TENSORD_ENGINE_PASSES_MOVEMENT_TURNER_H_
#define TENSORD_ENGINE_PASSES_MOVEMENT_TURNER_H_

#include <vector>

#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/passes/image_twins.h"

namespace tensord {

// Nodes that move, join, cut or reduce images by their dimensions, done on
// images with channels last: the part of PropagateChannelsLast that knows what
// each operator's axes, pads and scales become.
//
// Threading: one thread. Ownership: borrows the graph and the twins.
class MovementTurner {
 public:
  MovementTurner(const Graph& source, ImageTwins& twins);

  // Adds the node to the twins' graph with channels last, if it reads an image
  // that exists in that order alone and has such a form. The node has an input
  // 0.
  bool Turn(const Node& node);
  // All inputs are images; those without a twin get one.
  bool TurnConcat(const Node& node);

  // Whether a node of the source went into one that was turned before it.
  bool IsDone(const Node& node) const {
    return is_done_[&node - source_.nodes.data()];
  }

 private:
  int RankOf(ValueId value) const {
    return static_cast<int>(twins_.KnownType(value)->shape->size());
  }
  // To read it as it was, its elements must be moved.
  bool IsLastAlone(ValueId value) const {
    return value != kNoValue && twins_.HasLast(value) &&
           !twins_.HasFirst(value);
  }

  bool TurnSplit(const Node& node);
  bool TurnPad(const Node& node);
  bool TurnResize(const Node& node);
  bool TurnReduce(const Node& node);
  bool TurnTranspose(const Node& node);
  bool TurnShuffle(const Node& node);

  // The one node that reads a value, once; null where there is none, several,
  // or the graph returns it.
  const Node* OnlyReader(ValueId value) const;
  ValueId AddInts(const Node& node, const char* what,
                  absl::Span<const int64_t> values);

  const Graph& source_;
  ImageTwins& twins_;
  std::vector<bool> is_done_;        // by node
  std::vector<NodeId> only_reader_;  // by value; kNoNode: none or several
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_MOVEMENT_TURNER_H_
