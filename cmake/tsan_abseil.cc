// Tells the thread sanitizer what Debian's Abseil does.
//
// The packaged library is not instrumented, so the sanitizer sees no order
// between an Unlock() and the next Lock(), and reports a race on everything
// that an absl::Mutex guards. Under the tsan preset the linker sends our calls
// of the functions below through these wrappers (--wrap; the list is read from
// this file), which make the same announcements as an instrumented Abseil
// would. A suppression file would hide real races along with the false ones.
//
// Not covered: absl::Barrier, and calls that Abseil makes to itself. A
// condition of Await() or LockWhen() runs unobserved, since whichever thread
// unlocks may evaluate it.

#include <sanitizer/tsan_interface.h>

#include <array>
#include <cstdint>
#include <mutex>

#include "absl/synchronization/blocking_counter.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"

namespace {

using absl::BlockingCounter;
using absl::Condition;
using absl::CondVar;
using absl::Duration;
using absl::Mutex;
using absl::Notification;
using absl::Time;

// Abseil's search for deadlocks keeps a graph behind a lock of its own, and the
// sanitizer sees it grow (through memmove) but not the lock. It searches for
// deadlocks itself.
[[maybe_unused]] const bool kSearchIsOff = [] {
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  return true;
}();

constexpr unsigned kExclusive = 0;
constexpr unsigned kShared = __tsan_mutex_read_lock;

template <typename Real>
auto Acquire(Mutex* mu, unsigned how, Real real) {
  __tsan_mutex_pre_lock(mu, how);
  struct After {
    Mutex* mu;
    unsigned how;
    ~After() { __tsan_mutex_post_lock(mu, how, 0); }
  } after{mu, how};
  return real();
}

template <typename Real>
bool TryAcquire(Mutex* mu, unsigned how, Real real) {
  how |= __tsan_mutex_try_lock;
  __tsan_mutex_pre_lock(mu, how);
  const bool is_locked = real();
  __tsan_mutex_post_lock(
      mu, is_locked ? how : how | __tsan_mutex_try_lock_failed, 0);
  return is_locked;
}

template <typename Real>
auto Release(Mutex* mu, unsigned how, Real real) {
  __tsan_mutex_pre_unlock(mu, how);
  struct After {
    Mutex* mu;
    unsigned how;
    ~After() { __tsan_mutex_post_unlock(mu, how); }
  } after{mu, how};
  return real();
}

// Waiting gives the mutex up and takes it again, in the mode in which the
// caller holds it: bit 3 of Abseil's word is the writer's.
template <typename Real>
auto Wait(Mutex* mu, Real real) {
  const auto word =
      __atomic_load_n(reinterpret_cast<const intptr_t*>(mu), __ATOMIC_RELAXED);
  const unsigned how = (word & 8) != 0 ? kExclusive : kShared;
  struct After {
    Mutex* mu;
    unsigned how;
    ~After() {
      Acquire(mu, how, [] {});
    }
  } after{mu, how};
  return Release(mu, how, real);
}

// The flag behind the mutex, which HasBeenNotified() reads inline.
void* NotifiedFlag(const Notification* notification) {
  return const_cast<char*>(reinterpret_cast<const char*>(notification)) +
         sizeof(Mutex);
}

bool AcquireIf(bool is_notified, const Notification* notification) {
  if (is_notified) __tsan_acquire(NotifiedFlag(notification));
  return is_notified;
}

}  // namespace

#define TENSORD_WRAP(result, symbol, ...)         \
  extern "C" result __real_##symbol(__VA_ARGS__); \
  extern "C" result __wrap_##symbol(__VA_ARGS__); \
  extern "C" result __wrap_##symbol(__VA_ARGS__)

TENSORD_WRAP(void, _ZN4absl7debian35MutexD1Ev, Mutex* mu) {
  __tsan_mutex_destroy(mu, __tsan_mutex_not_static);
  __real__ZN4absl7debian35MutexD1Ev(mu);
}

TENSORD_WRAP(void, _ZN4absl7debian35Mutex4LockEv, Mutex* mu) {
  Acquire(mu, kExclusive, [=] { __real__ZN4absl7debian35Mutex4LockEv(mu); });
}
TENSORD_WRAP(void, _ZN4absl7debian35Mutex6UnlockEv, Mutex* mu) {
  Release(mu, kExclusive, [=] { __real__ZN4absl7debian35Mutex6UnlockEv(mu); });
}
TENSORD_WRAP(bool, _ZN4absl7debian35Mutex7TryLockEv, Mutex* mu) {
  return TryAcquire(mu, kExclusive, [=] {
    return __real__ZN4absl7debian35Mutex7TryLockEv(mu);
  });
}
TENSORD_WRAP(void, _ZN4absl7debian35Mutex10ReaderLockEv, Mutex* mu) {
  Acquire(mu, kShared,
          [=] { __real__ZN4absl7debian35Mutex10ReaderLockEv(mu); });
}
TENSORD_WRAP(void, _ZN4absl7debian35Mutex12ReaderUnlockEv, Mutex* mu) {
  Release(mu, kShared,
          [=] { __real__ZN4absl7debian35Mutex12ReaderUnlockEv(mu); });
}
TENSORD_WRAP(bool, _ZN4absl7debian35Mutex13ReaderTryLockEv, Mutex* mu) {
  return TryAcquire(mu, kShared, [=] {
    return __real__ZN4absl7debian35Mutex13ReaderTryLockEv(mu);
  });
}
// MutexLock's early release unlocks inside the library.
TENSORD_WRAP(void, _ZN4absl7debian319ReleasableMutexLock7ReleaseEv,
             void* lock) {
  Mutex* mu = *static_cast<Mutex**>(lock);
  Release(mu, kExclusive, [=] {
    __real__ZN4absl7debian319ReleasableMutexLock7ReleaseEv(lock);
  });
}

TENSORD_WRAP(void, _ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE, Mutex* mu,
             const Condition& condition) {
  Acquire(mu, kExclusive, [&] {
    __real__ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE(mu, condition);
  });
}
TENSORD_WRAP(
    bool,
    _ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE,
    Mutex* mu, const Condition& condition, Duration timeout) {
  return Acquire(mu, kExclusive, [&] {
    return __real__ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE(
        mu, condition, timeout);
  });
}
TENSORD_WRAP(
    bool,
    _ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE,
    Mutex* mu, const Condition& condition, Time deadline) {
  return Acquire(mu, kExclusive, [&] {
    return __real__ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE(
        mu, condition, deadline);
  });
}
TENSORD_WRAP(void, _ZN4absl7debian35Mutex14ReaderLockWhenERKNS0_9ConditionE,
             Mutex* mu, const Condition& condition) {
  Acquire(mu, kShared, [&] {
    __real__ZN4absl7debian35Mutex14ReaderLockWhenERKNS0_9ConditionE(mu,
                                                                    condition);
  });
}

TENSORD_WRAP(void, _ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE, Mutex* mu,
             const Condition& condition) {
  Wait(mu, [&] {
    __real__ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE(mu, condition);
  });
}
TENSORD_WRAP(
    bool,
    _ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE,
    Mutex* mu, const Condition& condition, Duration timeout) {
  return Wait(mu, [&] {
    return __real__ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE(
        mu, condition, timeout);
  });
}
TENSORD_WRAP(
    bool, _ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE,
    Mutex* mu, const Condition& condition, Time deadline) {
  return Wait(mu, [&] {
    return __real__ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE(
        mu, condition, deadline);
  });
}

TENSORD_WRAP(void, _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE, CondVar* cv,
             Mutex* mu) {
  Wait(mu, [=] { __real__ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(cv, mu); });
}
TENSORD_WRAP(
    bool, _ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE,
    CondVar* cv, Mutex* mu, Duration timeout) {
  return Wait(mu, [=] {
    return __real__ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE(
        cv, mu, timeout);
  });
}
TENSORD_WRAP(bool,
             _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE,
             CondVar* cv, Mutex* mu, Time deadline) {
  return Wait(mu, [=] {
    return __real__ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE(
        cv, mu, deadline);
  });
}

TENSORD_WRAP(void, _ZN4absl7debian312Notification6NotifyEv,
             Notification* notification) {
  __tsan_release(NotifiedFlag(notification));
  __real__ZN4absl7debian312Notification6NotifyEv(notification);
}
TENSORD_WRAP(void, _ZNK4absl7debian312Notification19WaitForNotificationEv,
             const Notification* notification) {
  __real__ZNK4absl7debian312Notification19WaitForNotificationEv(notification);
  AcquireIf(true, notification);
}
TENSORD_WRAP(
    bool,
    _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE,
    const Notification* notification, Duration timeout) {
  return AcquireIf(
      __real__ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(
          notification, timeout),
      notification);
}
TENSORD_WRAP(
    bool,
    _ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE,
    const Notification* notification, Time deadline) {
  return AcquireIf(
      __real__ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE(
          notification, deadline),
      notification);
}

TENSORD_WRAP(bool, _ZN4absl7debian315BlockingCounter14DecrementCountEv,
             BlockingCounter* counter) {
  __tsan_release(counter);
  return __real__ZN4absl7debian315BlockingCounter14DecrementCountEv(counter);
}
TENSORD_WRAP(void, _ZN4absl7debian315BlockingCounter4WaitEv,
             BlockingCounter* counter) {
  __real__ZN4absl7debian315BlockingCounter4WaitEv(counter);
  __tsan_acquire(counter);
}

// The last owner of a shared absl::Status frees it inside the library. All
// releases of one status take the same lock, so that the free is seen to come
// after them.
TENSORD_WRAP(void, _ZN4absl7debian36Status15UnrefNonInlinedEm, uintptr_t rep) {
  static std::array<std::mutex, 64> locks;
  const std::lock_guard<std::mutex> lock(locks[(rep >> 5) % locks.size()]);
  __real__ZN4absl7debian36Status15UnrefNonInlinedEm(rep);
}
