#ifndef TENSORD_SERVER_RPC_BYTE_BUDGET_H_
#define TENSORD_SERVER_RPC_BYTE_BUDGET_H_

#include <cstdint>
#include <list>
#include <memory>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/synchronization/mutex.h"

namespace tensord {

// Memory for uploads: each takes what it has declared before it is read, or
// waits for its turn. First come, first served, so that a large one is not
// passed over for ever.
//
// Threading: thread-safe; `granted` runs inside Request() or Release(), with no
//   lock held, and must not block.
// Ownership: outlives its claims.
class ByteBudget {
 public:
  explicit ByteBudget(uint64_t max_bytes) : free_bytes_(max_bytes) {}

  // One upload's part. Release() gives it back, or withdraws the request:
  // `granted` is then not called any more (one that runs already goes on).
  class Claim {
   public:
    Claim() = default;
    ~Claim() { Release(); }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    void Release();

   private:
    friend class ByteBudget;
    ByteBudget* budget_ = nullptr;
    uint64_t bytes_ = 0;
    bool is_granted_ = false;             // guarded by the budget
    absl::AnyInvocable<void()> granted_;  // while it waits
  };

  // `bytes` is at most the whole budget. `claim` is not in use.
  void Request(uint64_t bytes, Claim& claim, absl::AnyInvocable<void()> granted)
      ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Return(Claim& claim) ABSL_LOCKS_EXCLUDED(mu_);

  absl::Mutex mu_;
  uint64_t free_bytes_ ABSL_GUARDED_BY(mu_);
  std::list<Claim*> waiting_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_BYTE_BUDGET_H_
