#include "engine/compiled/kernel_choice.h"

#include "absl/strings/str_format.h"

namespace tensord {

absl::Status MeasuredSite::Judge(absl::string_view kernel) const {
  if (kernel == best().kernel) return absl::OkStatus();
  for (const Sibling& sibling : siblings) {
    if (sibling.kernel != kernel) continue;
    if (!sibling.agrees) {
      return absl::UnimplementedError(
          "its result was beyond the tolerance when it was measured");
    }
    if (sibling.ns == 0) break;
    return absl::UnimplementedError(
        absl::StrFormat("slower when measured: %.4g us against %.4g",
                        sibling.ns * 1e-3, best().ns * 1e-3));
  }
  return absl::UnimplementedError("its siblings were measured, and it was not");
}

}  // namespace tensord
