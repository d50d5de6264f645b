#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_SIBLING_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_SIBLING_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/api/backend.h"
#include "backends/api/kernel.h"

namespace tensord::cuda {

// Whether a library has a way for a problem shows only when the node is
// prepared, when its kernel is bound. Where it has none, the node is run by the
// next kernel of the table that takes it, inside the library's own.
//
// The state of such a node. Ownership: owns the sibling's state.
struct SiblingState final : KernelState {
  uint64_t footprint_bytes() const override {
    return own == nullptr ? 0 : own->footprint_bytes();
  }

  const KernelEntry* entry = nullptr;
  std::unique_ptr<KernelState> own;
};

// The first row of the table behind the one named `name` that takes the node
// and needs no more scratch memory than that one asked for, prepared; `why`
// where there is none.
absl::StatusOr<std::unique_ptr<KernelState>> PrepareSibling(
    absl::string_view name, const NodeSite& site, Device& device,
    uint64_t workspace_bytes, const absl::Status& why);

// Runs the sibling if the node's state is one's; else `run`.
template <typename Run>
absl::Status RunOrSibling(const KernelCall& call, Run run) {
  const auto* sibling = dynamic_cast<const SiblingState*>(call.state);
  if (sibling == nullptr) return run(call);
  return sibling->entry->run({call.context, call.inputs, call.outputs,
                              call.layouts, call.params, sibling->own.get()});
}

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_SIBLING_H_
