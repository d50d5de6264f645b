#ifndef TENSORD_ENGINE_FLOW_SCAN_OUTPUT_H_
#define TENSORD_ENGINE_FLOW_SCAN_OUTPUT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/flow/flow_ops.h"

namespace tensord {

// Where the tensors of a scan output go.
struct ScanPlace {
  int64_t axis = 0;  // of the joined tensor; may be negative
  bool is_reversed = false;
};

// The scan outputs of a loop: of each, one tensor an iteration, joined at the
// end.
//
// Threading: the lane's thread. Ownership: shares the tensors.
class ScanOutputs {
 public:
  explicit ScanOutputs(size_t count) : tensors_(count) {}

  size_t size() const { return tensors_.size(); }

  // What an iteration gave; kInvalidArgument for what is no tensor.
  absl::Status Add(absl::Span<const FlowValue> values);

  // Appends output i, joined at its place, to `results`. Without an iteration
  // it is empty, of the dtype and extents of types[i], 0 where one is not
  // known.
  absl::Status AppendTo(std::vector<FlowValue>& results,
                        absl::Span<const ScanPlace> places,
                        absl::Span<const TensorType> types, FlowRun& run);

 private:
  std::vector<std::vector<std::shared_ptr<FlowTensor>>> tensors_;  // by output
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_FLOW_SCAN_OUTPUT_H_
