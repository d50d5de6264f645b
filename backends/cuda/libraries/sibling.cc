#include "backends/cuda/libraries/sibling.h"

#include <utility>

#include "backends/cuda/kernel_table.h"

namespace tensord::cuda {

absl::StatusOr<std::unique_ptr<KernelState>> PrepareSibling(
    absl::string_view name, const NodeSite& site, Device& device,
    uint64_t workspace_bytes, const absl::Status& why) {
  bool is_behind = false;
  for (const KernelEntry& entry : CudaKernels()) {
    if (entry.name == name) {
      is_behind = true;
      continue;
    }
    if (!is_behind || entry.op != site.op ||
        !entry.dtypes.Matches(site.dtypes.subspan(0, site.input_count),
                              site.dtypes.subspan(site.input_count)) ||
        !KernelAccepts(entry, site).ok()) {
      continue;
    }
    if (entry.workspace_bytes != nullptr &&
        entry.workspace_bytes(site) > workspace_bytes) {
      continue;
    }
    auto state = std::make_unique<SiblingState>();
    state->entry = &entry;
    if (entry.prepare != nullptr) {
      absl::StatusOr<std::unique_ptr<KernelState>> own =
          entry.prepare(site, device);
      if (!own.ok()) return own.status();
      state->own = *std::move(own);
    }
    return state;
  }
  return why;
}

}  // namespace tensord::cuda
