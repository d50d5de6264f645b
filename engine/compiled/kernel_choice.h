#ifndef TENSORD_ENGINE_COMPILED_KERNEL_CHOICE_H_
#define TENSORD_ENGINE_COMPILED_KERNEL_CHOICE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/api/backend.h"
#include "backends/api/kernel.h"

namespace tensord {

// What was measured of the siblings of one node on one device, and which of
// them is the one to take.
// Threading and ownership: a plain value, immutable once it is shared.
struct MeasuredSite {
  struct Sibling {
    std::string kernel;
    double ns = 0;       // median of one launch; 0 where it was not timed
    bool agrees = true;  // its result was within tolerance of the portable one
  };
  std::vector<Sibling> siblings;  // in the order of the binding table
  size_t chosen = 0;

  const Sibling& best() const { return siblings[chosen]; }

  // OK for the chosen kernel; for the others why they were passed over, in
  // words for ExplainGraph.
  absl::Status Judge(absl::string_view kernel) const;
};

// Measurements that CompileNode prefers to the order of the binding table.
// Threading: may be asked from many threads at once.
class KernelChoice {
 public:
  virtual ~KernelChoice() = default;

  // Null where nothing is known of such a site on such a device.
  virtual std::shared_ptr<const MeasuredSite> Find(
      const NodeSite& site, const DeviceInfo& device) const = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_KERNEL_CHOICE_H_
