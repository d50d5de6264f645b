#ifndef TENSORD_ENGINE_PASSES_IMAGE_TWINS_H_
#define TENSORD_ENGINE_PASSES_IMAGE_TWINS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/graph/graph.h"
#include "engine/infer/infer.h"

namespace tensord {

// A graph that is being written anew, in which images [N, C, D...] may have a
// twin with the same elements as [N, D..., C]. Of a value one of both is made
// by the node that computes it; the other is made from it by a Transpose, or by
// a Reshape where no element has to move, when it is first asked for.
//
// Threading: one thread. Ownership: borrows the inference; owns the graph.
class ImageTwins {
 public:
  ImageTwins(const Graph& source, const Inference& inference);

  // The nodes that move elements from one order to the other.
  absl::Span<const NodeId> moves() const { return moves_; }
  // The nodes that are not of the source, those that move among them.
  absl::Span<const NodeId> added() const { return added_; }

  const Graph& graph() const { return graph_; }
  Graph Take() { return std::move(graph_); }

  // The value's type where it is known to the last extent: of a value of the
  // source, as it was; of a twin, as it is.
  const TensorType* KnownType(ValueId value) const;
  // Of rank 3 to 5, known, and not empty: one that can have a twin.
  bool IsImage(ValueId value) const;
  // The value ahead of the run: an initializer's, or what inference knows.
  const HostTensor* ConstantOf(ValueId value) const;

  bool HasFirst(ValueId value) const { return has_first_[value]; }
  bool HasLast(ValueId value) const { return last_[value] != kNoValue; }

  // The value itself, computed if only its twin was.
  ValueId First(ValueId value);
  // The twin, made if it is not there. The value is an image.
  ValueId Last(ValueId value);

  // A twin that the next node added will compute, instead of the value.
  ValueId DefineLast(ValueId value);
  // `twin` has the value's elements with channels last.
  void AliasLast(ValueId value, ValueId twin) { last_[value] = twin; }

  // A constant for an element-wise node whose result, of this rank, has its
  // channels last.
  ValueId BroadcastConstant(ValueId value, int rank);
  ValueId AddConstant(absl::string_view name, HostTensor tensor);

  // The value itself will be computed by the next node added.
  void Define(ValueId value) { has_first_[value] = true; }

  // Takes over a node as it is; its outputs are there from now on.
  void Keep(const Node& node);
  // A node whose inputs and outputs are of this graph.
  void Add(Node node);
  // A value of this graph alone, which the next node added computes.
  ValueId AddValue(std::string name, TensorType type);
  // A view of `from` in the place of a Reshape of the source, and its value.
  ValueId AddReshape(const Node& reshape, ValueId from,
                     const SymbolicShape& shape);

 private:
  void Append(Node node);
  // The extents of a value, as an input of Reshape.
  ValueId AddShape(ValueId value);
  // What moves `from` to `to`, whose types are known.
  void AddMove(ValueId from, ValueId to, Dims permutation);

  const Inference& inference_;
  Graph graph_;
  std::vector<TensorType> types_;  // by value, twins too
  std::vector<ValueId> last_;      // by value; kNoValue: no twin yet
  std::vector<bool> has_first_;
  std::vector<NodeId> moves_;
  std::vector<NodeId> added_;
  absl::flat_hash_map<std::pair<ValueId, int>, ValueId> broadcast_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_IMAGE_TWINS_H_
