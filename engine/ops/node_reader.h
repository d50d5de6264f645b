#ifndef TENSORD_ENGINE_OPS_NODE_READER_H_
#define TENSORD_ENGINE_OPS_NODE_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/graph/attributes.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// What an OpDef's `read` sees of a node: attributes, the operator set version,
// and how many operands there are. Attributes that `read` did not ask for are
// refused by the graph builder afterwards, with their names.
//
// Threading: one thread. Ownership: borrows the attributes; owns the constants
//   that `read` adds.
class NodeReader {
 public:
  NodeReader(const Attributes& attributes, int64_t opset, int input_count,
             int output_count)
      : attributes_(attributes),
        opset_(opset),
        input_count_(input_count),
        output_count_(output_count) {}

  int64_t opset() const { return opset_; }
  int input_count() const { return input_count_; }
  int output_count() const { return output_count_; }

  bool Has(absl::string_view name) const { return attributes_.Has(name); }

  // Getters of Attributes that also mark the name as read.
  absl::StatusOr<int64_t> Int(absl::string_view name, int64_t absent);
  // 0 or 1; anything else is kInvalidArgument.
  absl::StatusOr<bool> Bool(absl::string_view name, bool absent);
  absl::StatusOr<float> Float(absl::string_view name, float absent);
  absl::StatusOr<std::string> String(absl::string_view name,
                                     absl::string_view absent);
  absl::StatusOr<std::vector<int64_t>> Ints(absl::string_view name);
  absl::StatusOr<std::vector<float>> Floats(absl::string_view name);
  absl::StatusOr<std::vector<std::string>> Strings(absl::string_view name);
  absl::StatusOr<HostTensor> Tensor(absl::string_view name);

  // For attributes without a meaning at inference (training_mode, momentum).
  void Ignore(absl::string_view name) { seen_.emplace_back(name); }

  // Input `index` becomes this constant. kInvalidArgument if the client gave
  // that input as well.
  absl::Status SetConstantInput(int index, HostTensor tensor);

  absl::Span<const std::pair<int, HostTensor>> constant_inputs() const {
    return constant_inputs_;
  }
  // Names of attributes that were never asked for.
  std::vector<std::string> UnreadAttributes() const;

 private:
  const Attributes& attributes_;
  const int64_t opset_;
  const int input_count_;
  const int output_count_;
  std::vector<std::string> seen_;
  std::vector<std::pair<int, HostTensor>> constant_inputs_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_NODE_READER_H_
