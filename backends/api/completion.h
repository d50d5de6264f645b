#ifndef TENSORD_BACKENDS_API_COMPLETION_H_
#define TENSORD_BACKENDS_API_COMPLETION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace tensord {

// When the device itself began and ended the work, in nanoseconds of the
// device's own clock: only the difference means anything.
struct DeviceTimestamps {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
};

// Submitted work becoming done. It does so exactly once: with OK, or with the
// first error that its device reported.
//
// Threading: every method may be called from any thread, by any number of
//   waiters. Callbacks run on the device's completion thread, so they must not
//   block. OnReady() on a finished Completion runs its callback inline; hold no
//   lock that the callback takes. Waiters wake before the callbacks run, so a
//   callback must not use what a waiter frees once it is awake.
// Ownership: shared by all waiters. Dropping it does not cancel the work; the
//   lane keeps the storages alive until the device is finished.
// Errors: kUnavailable when the device was lost or quarantined meanwhile,
//   kInternal with the driver's error name otherwise.
class Completion {
 public:
  using Callback = absl::AnyInvocable<void(const absl::Status&) &&>;

  virtual ~Completion() = default;

  virtual bool IsReady() const = 0;
  virtual void OnReady(Callback callback) = 0;

  // The final status, or kDeadlineExceeded if the work is still running then.
  virtual absl::Status WaitUntil(absl::Time deadline) const = 0;

  // Waits without a deadline. For tests and for draining at shutdown; request
  // paths use WaitUntil or OnReady.
  absl::Status Wait() const { return WaitUntil(absl::InfiniteFuture()); }

  // Present once the work is done, on backends that have the clock for it.
  virtual std::optional<DeviceTimestamps> device_timestamps() const {
    return std::nullopt;
  }
};

// A Completion that host code finishes: what a backend's completion thread
// holds for work whose end it learns by polling or by an interrupt.
//
// Threading: Finish() from one thread, once; everything else as in Completion.
// Ownership: shared between the finisher and the waiters.
class HostCompletion : public Completion {
 public:
  bool IsReady() const override;
  void OnReady(Callback callback) override;
  absl::Status WaitUntil(absl::Time deadline) const override;
  std::optional<DeviceTimestamps> device_timestamps() const override;

  // Runs the callbacks on the calling thread, in the order in which they came.
  // A second call is ignored: the first status stands.
  void Finish(absl::Status status,
              std::optional<DeviceTimestamps> timestamps = std::nullopt);

 private:
  mutable absl::Mutex mu_;
  bool is_ready_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
  std::optional<DeviceTimestamps> timestamps_ ABSL_GUARDED_BY(mu_);
  std::vector<Callback> callbacks_ ABSL_GUARDED_BY(mu_);
};

// A launch's completion signal.
//
//   Ready      the bytes are there.
//   Pending    they will be when the Completion is ready.
//   Submitted  the work is ordered on its lane, and no event was recorded for
//   it,
//              since nobody was going to wait. It is not Ready: asking it is a
//              bug, and aborts. Wait for a later Pending of the same lane.
//
// Threading: a value; the Completion inside is thread-safe.
// Ownership: shares the Completion.
class [[nodiscard]] CompletionHandle {
 public:
  enum class State : uint8_t { kReady, kPending, kSubmitted };

  static CompletionHandle Ready() {
    return CompletionHandle(State::kReady, {});
  }
  static CompletionHandle Submitted() {
    return CompletionHandle(State::kSubmitted, {});
  }
  static CompletionHandle Pending(std::shared_ptr<Completion> completion) {
    return CompletionHandle(State::kPending, std::move(completion));
  }

  State state() const { return state_; }

  // Null unless Pending.
  const std::shared_ptr<Completion>& completion() const { return completion_; }

  // The three questions below abort on a Submitted handle.
  bool IsReady() const;
  absl::Status WaitUntil(absl::Time deadline) const;
  // Runs inline when the handle is Ready.
  void OnReady(Completion::Callback callback) const;

 private:
  CompletionHandle(State state, std::shared_ptr<Completion> completion)
      : state_(state), completion_(std::move(completion)) {}

  State state_;
  std::shared_ptr<Completion> completion_;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_COMPLETION_H_
