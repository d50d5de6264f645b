#include "engine/flow/flow_value.h"

#include "engine/limit_exceeded.h"

namespace tensord {

absl::Status FlowBudget::Charge(uint64_t bytes) {
  const uint64_t used = used_.load();
  if (bytes > limit_ || used > limit_ - bytes) {
    return LimitDetails{.limit = "max_peak_bytes",
                        .maximum = static_cast<int64_t>(limit_),
                        .requested = static_cast<int64_t>(used + bytes),
                        .unit = "bytes",
                        .scope = "execution"}
        .ToStatus(
            "the values between the stages of the execution take more "
            "memory than it may have");
  }
  used_ += bytes;
  return absl::OkStatus();
}

}  // namespace tensord
