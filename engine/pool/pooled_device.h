#ifndef TENSORD_ENGINE_POOL_POOLED_DEVICE_H_
#define TENSORD_ENGINE_POOL_POOLED_DEVICE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "backends/api/backend.h"
#include "engine/exec/execution.h"
#include "engine/exec/lane_slot.h"
#include "engine/pool/execution_queue.h"
#include "engine/pool/pool_options.h"

namespace tensord {

// One device at work: its lanes, the queue in front of them, and one thread for
// each lane, which leases a free lane for the next execution and runs it.
//
// A device is lost when it reports a fault, when a lane stays busy for
// hang_timeout after its execution was given up or after max_execution_time, or
// when it does not answer a probe for so long. It is probed, by a copy of a few
// bytes, once it has had nothing to do for probe_interval. From then on it
// takes nothing; what was queued goes to another device
// (PoolServices::reroute), what runs ends as its lanes end it.
//
// A run ends at its deadline, and when it has had its lane for its
// execution_timeout or for max_execution_time: at its next step, or, since the
// deadline watch raises Execution::is_stopped, inside a launch.
//
// Threading: every method may be called from any thread. on_done is called
//   without a lock, on a lane's thread or inside the call.
// Ownership: owns the device, its lanes and threads; borrows the services.
class PooledDevice final : public WaitingRoom {
 public:
  // Errors: the device's, when it cannot make its lanes.
  static absl::StatusOr<std::unique_ptr<PooledDevice>> Create(
      std::unique_ptr<Device> device, const PoolOptions& options,
      const PoolServices& services);

  ~PooledDevice() override;

  const DeviceInfo& info() const { return device_->info(); }
  Device& device() { return *device_; }
  int lane_count() const { return static_cast<int>(lanes_.size()); }

  // Runs `execution` on the calling thread if that is the quickest: the device
  // is synchronous, a lane is free, nothing waits, and the compiled graph is
  // estimated to take less than inline_limit. False: nothing was done.
  bool TryRunInline(Execution& execution);

  // Queues `execution` (its `compiled` is for this device); it is answered
  // later. An error leaves it with the caller: kUnavailable when the device was
  // lost or is closing, and the queue's own.
  absl::Status Enqueue(Execution& execution);

  bool Withdraw(Execution& execution) override;
  absl::Time AnswerExpired(absl::Time now) override;

  // Makes the device lost if it has a fault.
  void CheckHealth();
  // Makes it lost, for what its user found out.
  void Lose(absl::Status fault);

  // Drops what lanes have recorded of compiled graphs that nobody else has any
  // more: at once on lanes that are free, on the others behind their run.
  void SweepPrograms();

  // Whether executions are given to it, and why not: kUnavailable.
  bool is_available() const { return !is_lost() && !is_draining(); }
  absl::Status Availability() const;
  // OK, or the fault that made the device lost.
  absl::Status health() const;
  bool is_lost() const { return is_lost_.load(std::memory_order_acquire); }
  bool is_draining() const { return is_draining_.load(); }
  void SetDraining(bool is_draining);

  // Executions queued and on lanes.
  int64_t open_count() const {
    return open_count_.load(std::memory_order_relaxed);
  }
  // What they take together, by estimate.
  int64_t open_ns() const { return open_ns_.load(std::memory_order_relaxed); }
  // For work that no client waits for, of one caller (TrialLane). True when
  // nothing is queued or runs and the device takes executions: it may be used
  // until must_yield(), which becomes true with the next execution that comes,
  // or when the device drains, is lost or closes, and stays so until the next
  // call that is true.
  bool TryBorrow();
  const std::atomic<bool>& must_yield() const { return must_yield_; }
  // Executions that will come once their graph is compiled; whoever waits with
  // them counts them here.
  std::atomic<int64_t>& expected_count() { return expected_count_; }
  int64_t expected_count() const {
    return expected_count_.load(std::memory_order_relaxed);
  }
  // Both, for choosing among devices.
  int64_t load() const { return open_count() + expected_count(); }

  struct Counts {
    int64_t in_flight = 0;
    int64_t queue_depth = 0;
    uint64_t queued_bytes = 0;
    uint64_t completed = 0;
    uint64_t failed = 0;
    uint64_t faults = 0;
    absl::Time last_answer;  // see DeviceStatus
    bool is_stalled = false;
  };
  Counts counts() const;

  // What its runs have copied; they only grow.
  uint64_t uploaded_bytes() const;
  uint64_t downloaded_bytes() const;

  // Refuses what is queued and what comes (kUnavailable). Join() then waits for
  // what runs and ends the threads.
  void Close();
  void Join();

 private:
  // An execution on a lane, which it holds until `end` at most.
  struct Lease {
    LaneSlot* lane = nullptr;        // null: nothing to do
    Execution* execution = nullptr;  // null: a probe
    absl::Time start;
    absl::Time end;
    bool is_queued = false;  // it came through the queue
  };

  // A thread without work. It is woken once, by whoever takes it off the list.
  struct Sleeper {
    absl::CondVar wake;
    bool is_woken = false;
  };

  PooledDevice(std::unique_ptr<Device> device, const PoolOptions& options,
               const PoolServices& services);

  void Work();
  // The next execution of the queue, on a free lane, if there are both; or the
  // lane alone, for a probe that is wanted.
  Lease LeaseForNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Lease LeaseForProbe() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // There is a free lane.
  Lease LeaseFor(Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Runs, gives the lane back, and answers.
  void Run(const Lease& lease);
  absl::Status RunUntilLimit(const Lease& lease, bool* lane_is_busy);
  absl::Status CheckStillWanted(const Execution& execution,
                                absl::Time now) const;
  void EndLease(const Lease& lease) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // One that has left the queue.
  void AnswerWaiting(Execution& execution, absl::Status status);
  // Stops the runs whose time is up, and returns the next one's end. `is_hung`:
  // one of them does not end even so.
  absl::Time StopOverdue(absl::Time now, bool* is_hung)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Has an idle thread probe the device if it is time for that; when to look
  // again.
  absl::Time AskForProbe(absl::Time now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  bool IsStalled(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Asks the device on a lane that was leased for it, and gives the lane back.
  void Probe(LaneSlot& lane);
  absl::Status AskDevice(Lane& lane);
  void LoseHung(absl::string_view what);
  // Waits until a lane is empty whose execution was given up.
  void Drain(LaneSlot& lane);
  // True: the lane was wanted for a sweep while it was busy.
  bool GiveBack(LaneSlot& lane);
  // The same, but false, and the lane is kept, if it is wanted for a sweep.
  bool GiveBackSwept(LaneSlot& lane);
  // Of the lanes that are free.
  void SweepFreeLanes();
  void MarkBusyLanesUnswept() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Whether the lane was wanted for a sweep while it was busy; no more then.
  bool TakeUnswept(const LaneSlot& lane) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes everything out of the queue.
  std::vector<Execution*> EmptyQueue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void WakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // `execution` is open from here, or not any more.
  void CountOpen(Execution& execution) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void CountClosed(const Execution& execution)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PublishOpenCount() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const PoolOptions options_;
  const PoolServices& services_;
  const std::unique_ptr<Device> device_;
  const std::string lane_name_;  // for errors
  std::vector<std::unique_ptr<LaneSlot>> lanes_;

  std::atomic<int64_t> open_count_{0};
  std::atomic<int64_t> open_ns_{0};  // written under mu_
  std::atomic<int64_t> expected_count_{0};
  std::atomic<bool> must_yield_{false};
  std::atomic<bool> is_draining_{false};
  std::atomic<bool> is_lost_{false};  // fault_ is set

  mutable absl::Mutex mu_;
  ExecutionQueue queue_ ABSL_GUARDED_BY(mu_);
  std::vector<LaneSlot*> free_lanes_ ABSL_GUARDED_BY(mu_);  // last one first
  std::vector<Sleeper*> sleepers_ ABSL_GUARDED_BY(mu_);     // last one first
  std::vector<Lease> leases_ ABSL_GUARDED_BY(mu_);          // in flight
  std::vector<const LaneSlot*> unswept_ ABSL_GUARDED_BY(mu_);
  uint64_t completed_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t failed_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t faults_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Status fault_ ABSL_GUARDED_BY(mu_);
  // When a run or a probe last ended, a probe last began, and the queue was
  // last empty until.
  absl::Time last_answer_ ABSL_GUARDED_BY(mu_);
  absl::Time last_probe_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  absl::Time waiting_since_ ABSL_GUARDED_BY(mu_);
  bool is_probe_wanted_ ABSL_GUARDED_BY(mu_) = false;
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;

  std::vector<std::thread> threads_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_POOL_POOLED_DEVICE_H_
