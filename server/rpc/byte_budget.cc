#include "server/rpc/byte_budget.h"

#include <utility>
#include <vector>

namespace tensord {

void ByteBudget::Claim::Release() {
  if (budget_ != nullptr) std::exchange(budget_, nullptr)->Return(*this);
}

void ByteBudget::Request(uint64_t bytes, Claim& claim,
                         absl::AnyInvocable<void()> granted) {
  {
    absl::MutexLock lock(&mu_);
    claim.budget_ = this;
    claim.bytes_ = bytes;
    claim.is_granted_ = waiting_.empty() && bytes <= free_bytes_;
    if (!claim.is_granted_) {
      claim.granted_ = std::move(granted);
      waiting_.push_back(&claim);
      return;
    }
    free_bytes_ -= bytes;
  }
  granted();
}

void ByteBudget::Return(Claim& claim) {
  std::vector<absl::AnyInvocable<void()>> granted;
  absl::AnyInvocable<void()> withdrawn;  // dropped without the lock
  {
    absl::MutexLock lock(&mu_);
    if (claim.is_granted_) {
      free_bytes_ += claim.bytes_;
    } else {
      waiting_.remove(&claim);
      withdrawn = std::move(claim.granted_);
    }
    while (!waiting_.empty() && waiting_.front()->bytes_ <= free_bytes_) {
      Claim& next = *waiting_.front();
      waiting_.pop_front();
      free_bytes_ -= next.bytes_;
      next.is_granted_ = true;
      granted.push_back(std::move(next.granted_));
    }
  }
  for (auto& call : granted) std::move(call)();
}

}  // namespace tensord
