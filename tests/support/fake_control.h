#ifndef TENSORD_TESTS_SUPPORT_FAKE_CONTROL_H_
#define TENSORD_TESTS_SUPPORT_FAKE_CONTROL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/completion.h"
#include "backends/api/kernel.h"
#include "tests/support/fake_operation.h"

namespace tensord {

// What a fake device did so far.
struct FakeCounts {
  int64_t launches_enqueued = 0;
  int64_t launches_executed = 0;
  int64_t copies_enqueued = 0;
  // Of the launches enqueued, those that came as part of a program.
  int64_t launches_replayed = 0;
  int64_t programs_recorded = 0;
  int64_t programs_submitted = 0;
  int64_t programs_alive = 0;
  int64_t completions_recorded = 0;
  int64_t retained_owners = 0;  // held now
  int64_t allocations = 0;      // ever
  int64_t storages_alive = 0;
  int64_t prepares = 0;
  int64_t states_alive = 0;

  // Operations that were executed after one of their storages, or their kernel
  // state, had been freed. Not 0 is a bug of whoever enqueued them.
  int64_t dropped_in_flight = 0;
};

// The order in which a device takes from its lanes, and in which finished
// completions become ready. Each order is legal; work within one lane is always
// in order.
enum class FakeLaneOrder { kOldestFirst, kNewestFirst };
enum class FakeDelivery { kAsFinished, kReversed };

// The test's hand on one fake device. There is no sleeping and no clock: a test
// stops the device, lets it do exactly so much, and looks.
//
// Threading: every method may be called from any thread but the device's own
//   (hooks run there).
// Ownership: the FakeBackend's; lives as long as that, whether or not the
//   device is open. Faults and counts start anew when the device is opened.
class FakeControl {
 public:
  FakeControl(FakeLaneOrder lane_order, FakeDelivery delivery)
      : lane_order_(lane_order), delivery_(delivery) {}

  // Execution. While paused no launch and no copy is executed but by Step();
  // what merely marks a point of a lane (completions, retained owners) still
  // passes once everything before it is done. Lanes and devices wait for their
  // work when they die, so resume before.
  void Pause();
  void Resume();

  // While paused: executes the next `count` launches and copies of one lane
  // (lanes count from 0 in the order of creation), and waits for that and for
  // the completions that it makes ready. Returns how many there were: less when
  // the lane is empty, hung or faulted.
  int Step(int lane_index, int count = 1);

  // Waits until so many launches were executed since the device was opened.
  // False when it took longer than `timeout`, which no passing test sees.
  bool AwaitLaunches(int64_t count, absl::Duration timeout = absl::Minutes(1));

  // Completions. Held ones are finished on the device but not yet ready.
  void HoldCompletions();
  // Both return when the callbacks have run. The first goes on holding.
  void DeliverCompletions(FakeDelivery order);
  void StopHolding();
  int64_t held_completion_count() const;

  // Faults. `launch_index` counts from 0 from this call on. The device loses
  // itself at that launch: everything open fails with kUnavailable, and so does
  // every call from then on.
  void FailLaunch(int64_t launch_index);
  void Fault(absl::string_view reason);  // now

  // The lane of that launch stands still before it until ReleaseHang().
  void HangLaunch(int64_t launch_index);
  void ReleaseHang();

  // From now on EndRecording() fails, and what was recorded is lost.
  void RefuseRecordings();

  // Hooks. `prepare` runs in KernelEntry::prepare, on whichever thread
  // compiles; it may block, and what it returns is returned. `execute` runs on
  // the device's thread before each launch.
  void SetPrepareHook(std::function<absl::Status(const NodeSite&)> hook);
  void SetExecuteHook(std::function<void(const FakeLaunchInfo&)> hook);

  FakeCounts counts() const;

 private:
  friend class FakeDevice;
  friend class FakeLane;
  friend class FakeStorage;
  friend class FakeKernelState;
  friend class FakeProgram;

  // The device's side. Open() is false when a device has it already.
  bool Open(absl::string_view device_name);
  void ThreadMain();  // until RequestClose()
  void RequestClose();
  void Closed();
  absl::Status health() const;
  absl::Status RunPrepareHook(const NodeSite& site);

  int AddLane();
  void RemoveLane(int lane_index);  // waits until it is empty
  absl::Status Enqueue(int lane_index, FakeOperation operation);
  absl::Status EnqueueProgram(int lane_index, uint64_t program_serial,
                              const std::vector<FakeOperation>& operations);
  bool refuses_recordings() const;
  void CountRecorded();
  void ReserveTimeMarks(int lane_index, int count);
  absl::Status ReadTimeMarks(int lane_index, absl::Span<int64_t> nanoseconds);
  absl::Status Drain(int lane_index, absl::Time deadline);

  uint64_t AddResource(int64_t FakeCounts::*alive);
  void RemoveResource(uint64_t serial, int64_t FakeCounts::*alive);

  void Push(FakeLaneQueue& lane, int lane_index, FakeOperation operation)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  // The thread's steps; null lane: nothing can be executed now.
  FakeLaneQueue* NextLane() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool CanExecute(FakeLaneQueue& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void ExecuteFront(FakeLaneQueue& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status ExecuteWork(const FakeOperation& operation)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Finish(FakeLaneQueue& lane, FakeOperation& operation)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DeliverDue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetFault(absl::Status fault) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void MoveHeldToDue(FakeDelivery order) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool HasDeliveries() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void AwaitDeliveries() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsIdle(int lane_index) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const FakeLaneOrder lane_order_;
  const FakeDelivery delivery_;

  mutable absl::Mutex mu_;
  absl::CondVar changed_;  // signalled on every change below
  std::string device_name_ ABSL_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<FakeLaneQueue>> lanes_ ABSL_GUARDED_BY(mu_);
  std::vector<FakeFinished> held_ ABSL_GUARDED_BY(mu_);
  std::vector<FakeFinished> due_ ABSL_GUARDED_BY(mu_);

  // Owners of what a fault threw away; the thread drops them without the lock.
  std::vector<FakeOperation> discarded_ ABSL_GUARDED_BY(mu_);
  std::set<uint64_t> alive_ ABSL_GUARDED_BY(mu_);  // storages and states
  uint64_t next_serial_ ABSL_GUARDED_BY(mu_) = 1;
  int64_t next_sequence_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t clock_ns_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_paused_ ABSL_GUARDED_BY(mu_) = false;
  bool is_holding_ ABSL_GUARDED_BY(mu_) = false;
  bool is_open_ ABSL_GUARDED_BY(mu_) = false;
  bool is_delivering_ ABSL_GUARDED_BY(mu_) = false;
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
  bool refuses_recordings_ ABSL_GUARDED_BY(mu_) = false;
  absl::Status fault_ ABSL_GUARDED_BY(mu_);
  int64_t failing_launch_ ABSL_GUARDED_BY(mu_) = -1;
  int64_t hanging_launch_ ABSL_GUARDED_BY(mu_) = -1;
  std::function<absl::Status(const NodeSite&)> prepare_hook_
      ABSL_GUARDED_BY(mu_);
  std::function<void(const FakeLaunchInfo&)> execute_hook_ ABSL_GUARDED_BY(mu_);
  FakeCounts counts_ ABSL_GUARDED_BY(mu_);
};

// Pauses a device for a scope, so that a test that fails inside it does not
// leave lanes waiting.
class FakePause {
 public:
  explicit FakePause(FakeControl& control) : control_(control) {
    control_.Pause();
  }
  ~FakePause() { control_.Resume(); }
  FakePause(const FakePause&) = delete;
  FakePause& operator=(const FakePause&) = delete;

 private:
  FakeControl& control_;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_FAKE_CONTROL_H_
