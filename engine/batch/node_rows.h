#ifndef TENSORD_ENGINE_BATCH_NODE_ROWS_H_
#define TENSORD_ENGINE_BATCH_NODE_ROWS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/api/op_params.h"
#include "backends/api/shape.h"
#include "engine/graph/graph.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// How a value of a run over several requests' rows relates to the same value of
// each request's own run.
enum class RowKind : uint8_t {
  kNone,     // nothing is proven
  kFixed,    // it is the same in all of them
  kExtents,  // known before the run, and another one for another batch size
  kStacked,  // it is theirs, one behind the other along dimension 0
};

// One node as a row rule sees it: its operands' kinds, and their shapes and
// known values at two batch sizes. A rule that holds at both, and looks at the
// batch only through dimension 0 of what is stacked, holds at each size for
// which it is asked again.
//
// Threading: one thread. Ownership: borrows everything.
class NodeRows {
 public:
  // Shapes and values at the first and the second batch size.
  struct Operand {
    RowKind kind = RowKind::kNone;
    std::array<const Shape*, 2> shapes = {};
    std::array<const HostTensor*, 2> constants = {};  // absent: null
  };

  NodeRows(const Node& node, std::vector<Operand> inputs,
           std::vector<Operand> outputs)
      : node_(node), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

  template <typename Params>
  const Params& params() const {
    return std::get<Params>(node_.params);
  }

  int input_count() const { return static_cast<int>(inputs_.size()); }
  bool has_input(int i) const {
    return i < input_count() && inputs_[i].shapes[0] != nullptr;
  }
  bool has_output(int i) const {
    return i < static_cast<int>(outputs_.size()) &&
           outputs_[i].shapes[0] != nullptr;
  }
  bool is_stacked(int i) const { return KindOf(i) == RowKind::kStacked; }
  bool is_fixed(int i) const { return KindOf(i) == RowKind::kFixed; }

  int rank(int i) const { return inputs_[i].shapes[0]->rank(); }
  int output_rank() const { return outputs_[0].shapes[0]->rank(); }
  // Elements at the first batch size, which are all for what is fixed.
  int64_t element_count(int i) const {
    return inputs_[i].shapes[0]->element_count();
  }
  // `axis` brought to [0, rank of input i).
  int64_t Axis(int64_t axis, int i) const {
    return axis < 0 ? axis + rank(i) : axis;
  }

  // The elements of input i, an integer tensor known before the run, at both
  // batch sizes; nothing for others.
  using Ints = std::array<Dims, 2>;
  std::optional<Ints> KnownInts(int i) const;
  // The first element of input i, float32 and known before the run.
  std::optional<float> FirstFloat(int i) const;

  // Each is OK, or says what does not hold.
  absl::Status ExpectStacked(int i, int min_rank = 1) const;
  // Or absent.
  absl::Status ExpectFixed(int i) const;
  absl::Status ExpectFixedFrom(int first) const;
  // Of input i the dimension `axis` is not the batch.
  absl::Status ExpectBehindBatch(int64_t axis, int i) const;
  // Both are stacked, by as many rows of dimension 0 for each request.
  absl::Status ExpectSameRows(int i, int j) const;
  // Dimension 0 of input i is the output's, at both batch sizes.
  absl::Status ExpectOutputRows(int i) const;
  // Input i, fixed, repeats along the output's dimension 0: it has no such
  // dimension, aligned at the last ones, or it is 1 there.
  absl::Status ExpectRepeats(int i) const;

  // Each request's part of output i is as many rows of dimension 0, alike but
  // for their number at both batch sizes. `batches` are the two sizes.
  absl::Status CheckOutput(int i, const std::array<int64_t, 2>& batches) const;

 private:
  RowKind KindOf(int i) const {
    return has_input(i) ? inputs_[i].kind : RowKind::kNone;
  }

  const Node& node_;
  std::vector<Operand> inputs_;
  std::vector<Operand> outputs_;
};

// What is wrong with a node, in the words that ExplainGraph shows.
absl::Status NotProven(absl::string_view why);

}  // namespace tensord

#endif  // TENSORD_ENGINE_BATCH_NODE_ROWS_H_
