#ifndef TENSORD_SERVER_RPC_ACTIVE_CALLS_H_
#define TENSORD_SERVER_RPC_ACTIVE_CALLS_H_

#include <atomic>
#include <cstdint>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace tensord {

// How many calls of the API are under way, until their last byte is written.
// (gRPC's own wait at shutdown also waits for streams that never end by
// themselves, such as health watches.)
//
// Threading: thread-safe. Ownership: outlives its tokens.
class ActiveCalls {
 public:
  class Token {
   public:
    explicit Token(ActiveCalls& calls) : calls_(calls) {
      calls_.count_.fetch_add(1, std::memory_order_relaxed);
      calls_.begun_count_.fetch_add(1, std::memory_order_relaxed);
    }
    ~Token() { calls_.count_.fetch_sub(1, std::memory_order_release); }
    Token(const Token&) = delete;
    Token& operator=(const Token&) = delete;

   private:
    ActiveCalls& calls_;
  };

  int64_t count() const { return count_.load(std::memory_order_acquire); }

  // A tensor's bytes that the transport reads: until they are written, which
  // may be after the end of their call.
  class Sent {
   public:
    explicit Sent(ActiveCalls& calls) : calls_(&calls) {
      calls_->sent_count_.fetch_add(1, std::memory_order_relaxed);
    }
    Sent(Sent&& other) noexcept
        : calls_(std::exchange(other.calls_, nullptr)) {}
    Sent& operator=(Sent&&) = delete;
    ~Sent() {
      if (calls_ == nullptr) return;
      calls_->sent_count_.fetch_sub(1, std::memory_order_release);
    }

   private:
    ActiveCalls* calls_;
  };

  int64_t sent_count() const {
    return sent_count_.load(std::memory_order_acquire);
  }

  // False when there still are some at `deadline`. These look again and again:
  // they are for the end of the process, and cost the calls nothing.
  bool AwaitNone(absl::Time deadline) const { return Await(count_, deadline); }
  bool AwaitSent(absl::Time deadline) const {
    return Await(sent_count_, deadline);
  }

  // Until no call has begun for `quiet`; not longer than `deadline`.
  void AwaitQuiet(absl::Duration quiet, absl::Time deadline) const {
    constexpr absl::Duration kLook = absl::Milliseconds(5);
    int64_t known_count = begun_count_.load(std::memory_order_relaxed);
    absl::Time quiet_since = absl::Now();
    for (absl::Time now = quiet_since;
         now < deadline && now - quiet_since < quiet; now = absl::Now()) {
      absl::SleepFor(kLook);
      const int64_t begun_count = begun_count_.load(std::memory_order_relaxed);
      if (begun_count == known_count) continue;
      known_count = begun_count;
      quiet_since = absl::Now();
    }
  }

 private:
  static bool Await(const std::atomic<int64_t>& count, absl::Time deadline) {
    while (count.load(std::memory_order_acquire) > 0) {
      if (absl::Now() >= deadline) return false;
      absl::SleepFor(absl::Milliseconds(2));
    }
    return true;
  }

  alignas(64) std::atomic<int64_t> count_{0};
  std::atomic<int64_t> begun_count_{0};  // since the start
  alignas(64) std::atomic<int64_t> sent_count_{0};
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_ACTIVE_CALLS_H_
