#include "engine/profile/striped_rows.h"

namespace tensord::op_profile {

size_t ThreadStripe() {
  static std::atomic<size_t> next{0};
  thread_local const size_t stripe =
      next.fetch_add(1, std::memory_order_relaxed) % kStripeCount;
  return stripe;
}

}  // namespace tensord::op_profile
