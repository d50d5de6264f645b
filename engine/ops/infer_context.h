#ifndef TENSORD_ENGINE_OPS_INFER_CONTEXT_H_
#define TENSORD_ENGINE_OPS_INFER_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/dtype.h"
#include "backends/api/op_params.h"
#include "engine/graph/dim.h"
#include "engine/graph/graph.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// What an OpDef's `infer` sees of a node, and where it puts the answer.
//
// Dims may be symbols: a rule must give an answer that holds for every value of
// them, using the table's arithmetic, and must check what is known. The rule
// runs once when a graph is submitted, and again for each set of concrete
// shapes.
//
// Threading: one thread. Ownership: borrows all but the outputs.
class InferContext {
 public:
  InferContext(const OpParams& params, std::vector<const TensorType*> inputs,
               std::vector<const HostTensor*> constants, int output_count,
               SymbolTable& symbols)
      : params_(params),
        inputs_(std::move(inputs)),
        constants_(std::move(constants)),
        outputs_(output_count),
        output_constants_(output_count),
        symbols_(symbols) {}

  // The variant alternative is the one that the OpDef's `read` returned.
  template <typename Params>
  const Params& params() const {
    return std::get<Params>(params_);
  }

  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  bool has_input(int i) const {
    return i < input_count() && inputs_[i] != nullptr;
  }
  DType dtype(int i) const { return inputs_[i]->dtype; }
  const SymbolicShape& shape(int i) const { return *inputs_[i]->shape; }
  int rank(int i) const { return static_cast<int>(shape(i).size()); }

  // The value of input i where it is known before the run, else null.
  const HostTensor* constant(int i) const {
    return i < static_cast<int>(constants_.size()) ? constants_[i] : nullptr;
  }

  SymbolTable& symbols() { return symbols_; }

  void SetOutput(int i, DType dtype, SymbolicShape shape) {
    outputs_[i] = TensorType{dtype, std::move(shape)};
  }
  // The value of output i follows from shapes and constants alone (Shape). Its
  // type is set as well.
  void SetOutputConstant(int i, HostTensor value) {
    SetOutput(i, value.dtype(), ToSymbolic(value.shape()));
    output_constants_[i] = std::move(value);
  }

  // An extent that only the data can tell; see SymbolTable::DataDependent.
  Dim DataDependentDim(int64_t upper_bound) {
    return symbols_.DataDependent(upper_bound);
  }
  // An extent that follows from symbols in a way that the table has no
  // expression for. Inference for concrete shapes never needs one.
  Dim UnknownDim() { return symbols_.Unnamed(); }

  // For a rule whose extents follow from the value of input i (Reshape's shape,
  // Range's limit) when constant(i) is null and no bound follows either. The
  // graph then runs up to this node, and the rule is asked again with the
  // value.
  absl::Status NeedsValue(int i) const;

  absl::Span<const TensorType> outputs() const { return outputs_; }
  // By output; absent where the value is not known.
  absl::Span<const HostTensor> output_constants() const {
    return output_constants_;
  }

  // Checks that rules share. kInvalidArgument with a noun and the numbers.
  absl::Status CheckSameDType(int i, int j) const;
  absl::Status CheckDType(int i, absl::Span<const DType> allowed) const;
  absl::Status CheckRank(int i, int low, int high) const;
  // A scalar, or a vector of one element.
  absl::Status CheckOneElement(int i) const;
  // OK when equal, or when either is a symbol (then only concrete shapes can
  // tell). `what` names the extent: "inner extents".
  absl::Status CheckSameDim(absl::string_view what, Dim a, Dim b) const;
  // `axis` in [-rank, rank) brought to [0, rank).
  absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank) const;

 private:
  const OpParams& params_;
  std::vector<const TensorType*> inputs_;
  std::vector<const HostTensor*> constants_;
  std::vector<TensorType> outputs_;
  std::vector<HostTensor> output_constants_;
  SymbolTable& symbols_;
};

// Which input a rule's NeedsValue asked for; nothing for any other status.
std::optional<int> NeededValue(const absl::Status& status);

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_INFER_CONTEXT_H_
