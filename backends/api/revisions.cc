#include "backends/api/revisions.h"

#include <algorithm>

namespace tensord {

uint64_t FindKernelRevision(absl::Span<const KernelRevision> table,
                            absl::string_view kernel_source) {
  const auto row = std::lower_bound(
      table.begin(), table.end(), kernel_source,
      [](const KernelRevision& entry, absl::string_view wanted) {
        return entry.kernel_source < wanted;
      });
  if (row == table.end() || row->kernel_source != kernel_source) return 0;
  return row->revision_hash;
}

}  // namespace tensord
