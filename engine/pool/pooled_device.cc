#include "engine/pool/pooled_device.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/exec/compiled_run.h"
#include "engine/pool/waiting.h"

namespace tensord {
namespace {

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

int64_t& QueueNs(Execution& execution) {
  return execution.phase_ns[static_cast<int>(Phase::kQueue)];
}

// What a run is taken to last of which nobody knows: it must not count for
// nothing. A guess; most runs of small models are shorter.
constexpr int64_t kUnknownNs = 1'000'000;

int64_t ExpectedNs(const Execution& execution, DeviceId device) {
  if (execution.compiled == nullptr) return kUnknownNs;
  const CompiledGraph& graph = *execution.compiled;
  const DeviceEstimate* estimate = FindEstimate(graph.device_estimates, device);
  // A device's estimate of 0 stands; launches of 0 may be those of a graph that
  // is planned while it runs.
  if (estimate == nullptr && !(graph.estimated_ns > 0)) return kUnknownNs;
  const double ns = estimate != nullptr ? estimate->ns : graph.estimated_ns;
  // No run is given a lane for longer than some minutes.
  return static_cast<int64_t>(std::min(ns, 1e12));
}

int LaneCount(const DeviceInfo& info, const PoolOptions& options) {
  return options.lanes_per_device > 0
             ? std::min(options.lanes_per_device, info.max_lanes)
             : info.max_lanes;
}

// Which of the two limits of a lane's time held, behind the time itself.
std::string LaneTimeLimit(const Execution& execution,
                          absl::Duration max_execution_time) {
  const absl::Duration own = execution.execution_timeout;
  return own <= max_execution_time
             ? absl::StrCat(absl::FormatDuration(own),
                            ", the limit execution_timeout of its request")
             : absl::StrCat(absl::FormatDuration(max_execution_time),
                            ", the limit max_execution_time "
                            "(--max-execution-time)");
}

absl::Status ClosingError() {
  return absl::UnavailableError("the daemon is shutting down");
}

}  // namespace

absl::StatusOr<std::unique_ptr<PooledDevice>> PooledDevice::Create(
    std::unique_ptr<Device> device, const PoolOptions& options,
    const PoolServices& services) {
  std::unique_ptr<PooledDevice> pooled(
      new PooledDevice(std::move(device), options, services));
  const int count = LaneCount(pooled->info(), options);
  for (int i = 0; i < count; ++i) {
    absl::StatusOr<std::unique_ptr<LaneSlot>> lane =
        LaneSlot::Create(pooled->device(), services.profile,
                         services.host.workers, options.records_programs);
    if (!lane.ok()) return lane.status();
    pooled->lanes_.push_back(*std::move(lane));
  }
  {
    absl::MutexLock lock(&pooled->mu_);
    pooled->sleepers_.reserve(count);
    pooled->leases_.reserve(count);
    pooled->unswept_.reserve(count);
    pooled->last_answer_ = absl::Now();
    // Lane 0 is leased first.
    for (int i = count - 1; i >= 0; --i) {
      pooled->free_lanes_.push_back(pooled->lanes_[i].get());
    }
  }
  services.watch->Add(pooled.get());
  for (int i = 0; i < count; ++i) {
    pooled->threads_.emplace_back([device = pooled.get()] { device->Work(); });
  }
  services.watch->Tell(absl::Now() + options.probe_interval);
  return pooled;
}

PooledDevice::PooledDevice(std::unique_ptr<Device> device,
                           const PoolOptions& options,
                           const PoolServices& services)
    : options_(options),
      services_(services),
      device_(std::move(device)),
      lane_name_(
          absl::StrCat("a lane of device ", device_->info().id.ToString())),
      queue_(*this,
             {.scope = absl::StrCat("device ", device_->info().id.ToString()),
              .max_length = options.max_queue_length,
              .max_bytes = options.max_queued_bytes,
              .lane_count = LaneCount(device_->info(), options)}) {}

PooledDevice::~PooledDevice() {
  Close();
  Join();
}

bool PooledDevice::TryRunInline(Execution& execution) {
  if (!info().is_synchronous || execution.preparation != nullptr ||
      execution.compiled->later_segments != nullptr ||
      execution.compiled->flow != nullptr ||
      execution.compiled->estimated_ns >=
          absl::ToDoubleNanoseconds(options_.inline_limit)) {
    return false;
  }
  Lease lease;
  {
    absl::MutexLock lock(&mu_);
    if (!queue_.empty() || free_lanes_.empty() || is_closing_ || !fault_.ok()) {
      return false;
    }
    lease = LeaseFor(execution);
    CountOpen(execution);
  }
  Run(lease);
  return true;
}

absl::Status PooledDevice::Enqueue(Execution& execution) {
  BeginWaiting(execution, options_.max_queue_time);
  // The execution may be gone as soon as it is queued.
  const absl::Time due = DeadlineHeap::DueTime(execution);
  {
    absl::MutexLock lock(&mu_);
    if (is_closing_) return ClosingError();
    if (!fault_.ok()) return fault_;
    const bool was_empty = queue_.empty();
    absl::Status status = queue_.Push(execution);
    if (!status.ok()) return status;
    if (was_empty) waiting_since_ = absl::Now();
    CountOpen(execution);
    if (!free_lanes_.empty()) WakeOne();
  }
  services_.watch->Tell(due);
  return absl::OkStatus();
}

bool PooledDevice::Withdraw(Execution& execution) {
  absl::MutexLock lock(&mu_);
  if (!queue_.Remove(execution)) return false;
  CountClosed(execution);
  QueueNs(execution) += NowNs() - execution.enqueued_ns;
  return true;
}

void PooledDevice::AnswerWaiting(Execution& execution, absl::Status status) {
  QueueNs(execution) += NowNs() - execution.enqueued_ns;
  services_.open->Answer(execution, std::move(status));
}

bool PooledDevice::TryBorrow() {
  // The caller has the lowest priority: while the device is busy it must not
  // hold a lock that clients wait for.
  if (open_count() > 0 || is_draining()) return false;
  absl::MutexLock lock(&mu_);
  if (open_count() > 0 || is_draining() || is_closing_ || !fault_.ok()) {
    return false;
  }
  must_yield_.store(false, std::memory_order_relaxed);
  return true;
}

void PooledDevice::SetDraining(bool is_draining) {
  // TryBorrow() looks at the one and clears the other under this lock.
  absl::MutexLock lock(&mu_);
  is_draining_.store(is_draining);
  if (is_draining) must_yield_.store(true, std::memory_order_relaxed);
}

void PooledDevice::CheckHealth() {
  absl::Status health = device_->health();
  if (!health.ok()) Lose(std::move(health));
}

absl::Status PooledDevice::Availability() const {
  if (is_draining_.load(std::memory_order_relaxed)) {
    return absl::UnavailableError(
        absl::StrCat("device ", info().id.ToString(), " is draining"));
  }
  return health();
}

absl::Status PooledDevice::health() const {
  absl::MutexLock lock(&mu_);
  return fault_;
}

PooledDevice::Counts PooledDevice::counts() const {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&mu_);
  return {.in_flight = static_cast<int64_t>(leases_.size()),
          .queue_depth = queue_.length(),
          .queued_bytes = queue_.bytes(),
          .completed = completed_,
          .failed = failed_,
          .faults = faults_,
          .last_answer = last_answer_,
          .is_stalled = IsStalled(now)};
}

uint64_t PooledDevice::uploaded_bytes() const {
  uint64_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane->uploaded_bytes();
  return bytes;
}

uint64_t PooledDevice::downloaded_bytes() const {
  uint64_t bytes = 0;
  for (const auto& lane : lanes_) bytes += lane->downloaded_bytes();
  return bytes;
}

void PooledDevice::Close() {
  std::vector<Execution*> refused;
  {
    absl::MutexLock lock(&mu_);
    is_closing_ = true;
    must_yield_.store(true, std::memory_order_relaxed);
    refused = EmptyQueue();
    while (!sleepers_.empty()) WakeOne();
  }
  for (Execution* execution : refused) {
    services_.open->Answer(*execution, ClosingError());
  }
}

void PooledDevice::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void PooledDevice::Work() {
  pthread_setname_np(pthread_self(),
                     absl::StrCat("lane ", info().id.ToString()).c_str());
  Sleeper self;
  for (;;) {
    Lease lease;
    {
      absl::MutexLock lock(&mu_);
      while (!is_closing_ && (lease = LeaseForNext()).lane == nullptr) {
        self.is_woken = false;
        sleepers_.push_back(&self);
        while (!self.is_woken) self.wake.Wait(&mu_);
      }
    }
    if (lease.lane == nullptr) return;
    if (lease.execution == nullptr) {
      Probe(*lease.lane);
    } else {
      Run(lease);
    }
  }
}

PooledDevice::Lease PooledDevice::LeaseForNext() {
  if (free_lanes_.empty()) return {};
  Execution* execution = queue_.Pop();
  if (execution == nullptr) return LeaseForProbe();
  QueueNs(*execution) += NowNs() - execution->enqueued_ns;
  Lease lease = LeaseFor(*execution);
  lease.is_queued = true;
  return lease;
}

PooledDevice::Lease PooledDevice::LeaseForProbe() {
  if (!std::exchange(is_probe_wanted_, false)) return {};
  LaneSlot* lane = free_lanes_.back();
  free_lanes_.pop_back();
  return {.lane = lane};
}

PooledDevice::Lease PooledDevice::LeaseFor(Execution& execution) {
  Lease lease{.lane = free_lanes_.back(),
              .execution = &execution,
              .start = absl::Now()};
  lease.end = std::min(execution.deadline,
                       lease.start + std::min(execution.execution_timeout,
                                              options_.max_execution_time));
  free_lanes_.pop_back();
  leases_.push_back(lease);
  PublishOpenCount();
  return lease;
}

void PooledDevice::EndLease(const Lease& lease) {
  const auto it = std::find_if(
      leases_.begin(), leases_.end(),
      [&](const Lease& other) { return other.lane == lease.lane; });
  *it = leases_.back();
  leases_.pop_back();
}

void PooledDevice::Run(const Lease& lease) {
  services_.watch->Tell(lease.end);
  LaneSlot& lane = *lease.lane;
  Execution& execution = *lease.execution;
  bool lane_is_busy = false;
  absl::Status status = RunUntilLimit(lease, &lane_is_busy);
  if (MayBeFault(status)) CheckHealth();
  // What a lane that was given up still works on stays until it is empty.
  std::shared_ptr<const CompiledGraph> kept;
  if (lane_is_busy) kept = execution.compiled;
  bool is_unswept = false;
  // One that ran in line was too short to look at the clock again.
  const absl::Time end = lease.is_queued ? absl::Now() : lease.start;
  const int64_t held_ns = absl::ToInt64Nanoseconds(end - lease.start);
  {
    absl::MutexLock lock(&mu_);
    EndLease(lease);
    last_answer_ = end;
    // Without a queue nobody's turn was taken.
    if (lease.is_queued) queue_.Settle(execution, held_ns);
    ++(status.ok() ? completed_ : failed_);
    CountClosed(execution);
    if (!lane_is_busy) {
      is_unswept = TakeUnswept(lane);
      free_lanes_.push_back(&lane);
      // This thread may be a caller that does not come back for the queue.
      if (!queue_.empty()) WakeOne();
    }
  }
  services_.open->Answer(execution, std::move(status));
  if (lane_is_busy) {
    Drain(lane);
    kept.reset();
    is_unswept = GiveBack(lane);
  }
  // The run was the last that had a graph, perhaps.
  if (is_unswept) SweepFreeLanes();
}

void PooledDevice::SweepPrograms() {
  if (!info().records_programs || !options_.records_programs) return;
  {
    absl::MutexLock lock(&mu_);
    MarkBusyLanesUnswept();
  }
  SweepFreeLanes();
}

void PooledDevice::SweepFreeLanes() {
  bool is_left_on_others = false;
  for (const auto& lane : lanes_) {
    {
      absl::MutexLock lock(&mu_);
      const auto it =
          std::find(free_lanes_.begin(), free_lanes_.end(), lane.get());
      if (it == free_lanes_.end()) continue;
      free_lanes_.erase(it);
    }
    // Again, if somebody else wanted it swept meanwhile.
    do {
      is_left_on_others |= lane->programs()->Sweep();
    } while (!GiveBackSwept(*lane));
  }
  if (!is_left_on_others) return;
  absl::MutexLock lock(&mu_);
  MarkBusyLanesUnswept();
}

void PooledDevice::MarkBusyLanesUnswept() {
  for (const auto& lane : lanes_) {
    const auto is_lane = [&](const LaneSlot* other) {
      return other == lane.get();
    };
    if (std::none_of(free_lanes_.begin(), free_lanes_.end(), is_lane) &&
        std::none_of(unswept_.begin(), unswept_.end(), is_lane)) {
      unswept_.push_back(lane.get());
    }
  }
}

bool PooledDevice::TakeUnswept(const LaneSlot& lane) {
  const auto it = std::find(unswept_.begin(), unswept_.end(), &lane);
  if (it == unswept_.end()) return false;
  unswept_.erase(it);
  return true;
}

absl::Status PooledDevice::RunUntilLimit(const Lease& lease,
                                         bool* lane_is_busy) {
  Execution& execution = *lease.execution;
  execution.ran_on = info().id;
  absl::Status status = CheckStillWanted(execution, lease.start);
  if (!status.ok()) return status;
  execution.started_ns.store(absl::ToUnixNanos(lease.start),
                             std::memory_order_release);

  const absl::Time deadline = execution.deadline;
  execution.deadline = lease.end;
  status = options_.run(*lease.lane, *execution.compiled, execution,
                        *services_.buffers, execution.preparation.get(),
                        lane_is_busy);
  const bool is_limited = execution.deadline < deadline;
  execution.deadline = deadline;
  if (is_limited && absl::IsDeadlineExceeded(status)) {
    return absl::DeadlineExceededError(absl::StrCat(
        "the execution held a lane of device ", info().id.ToString(), " for ",
        LaneTimeLimit(execution, options_.max_execution_time)));
  }
  return status;
}

absl::Status PooledDevice::CheckStillWanted(const Execution& execution,
                                            absl::Time now) const {
  return tensord::CheckStillWanted(execution, now, lane_name_,
                                   options_.max_queue_time);
}

void PooledDevice::Drain(LaneSlot& lane) {
  absl::Status status = lane.lane().Drain(absl::Now() + options_.hang_timeout);
  if (absl::IsDeadlineExceeded(status)) {
    Lose(absl::UnavailableError(absl::StrCat(
        "device ", info().id.ToString(), " hangs: a lane was busy for ",
        absl::FormatDuration(options_.hang_timeout),
        " after its execution was given up (--hang-timeout)")));
    status = lane.lane().Drain(absl::InfiniteFuture());
  }
  if (!status.ok()) CheckHealth();
}

bool PooledDevice::GiveBack(LaneSlot& lane) {
  absl::MutexLock lock(&mu_);
  const bool is_unswept = TakeUnswept(lane);
  free_lanes_.push_back(&lane);
  if (!queue_.empty()) WakeOne();
  return is_unswept;
}

bool PooledDevice::GiveBackSwept(LaneSlot& lane) {
  absl::MutexLock lock(&mu_);
  if (TakeUnswept(lane)) return false;
  free_lanes_.push_back(&lane);
  if (!queue_.empty()) WakeOne();
  return true;
}

void PooledDevice::Lose(absl::Status fault) {
  std::vector<Execution*> moved;
  {
    absl::MutexLock lock(&mu_);
    if (!fault_.ok()) return;
    fault_ = absl::UnavailableError(absl::StrCat(
        "device ", info().id.ToString(), " is lost: ", fault.message()));
    is_lost_.store(true, std::memory_order_release);
    must_yield_.store(true, std::memory_order_relaxed);
    ++faults_;
    moved = EmptyQueue();
  }
  if (services_.host.logger != nullptr) {
    services_.host.logger->Log(LogSeverity::kError, "device lost",
                               {{"device", info().id.ToString()},
                                {"reason", std::string(fault.message())},
                                {"moved", absl::StrCat(moved.size())}});
  }
  for (Execution* execution : moved) services_.reroute(*execution);
}

std::vector<Execution*> PooledDevice::EmptyQueue() {
  std::vector<Execution*> executions;
  const int64_t now_ns = NowNs();
  while (Execution* execution = queue_.Pop()) {
    QueueNs(*execution) += now_ns - execution->enqueued_ns;
    CountClosed(*execution);
    executions.push_back(execution);
  }
  return executions;
}

void PooledDevice::WakeOne() {
  if (sleepers_.empty()) return;
  Sleeper* sleeper = sleepers_.back();
  sleepers_.pop_back();
  sleeper->is_woken = true;
  sleeper->wake.Signal();
}

void PooledDevice::CountOpen(Execution& execution) {
  execution.expected_ns = ExpectedNs(execution, info().id);
  open_ns_.store(open_ns() + execution.expected_ns, std::memory_order_relaxed);
  PublishOpenCount();
}

void PooledDevice::CountClosed(const Execution& execution) {
  open_ns_.store(open_ns() - execution.expected_ns, std::memory_order_relaxed);
  PublishOpenCount();
}

void PooledDevice::PublishOpenCount() {
  const int64_t count = queue_.length() + static_cast<int64_t>(leases_.size());
  open_count_.store(count, std::memory_order_relaxed);
  if (count > 0) must_yield_.store(true, std::memory_order_relaxed);
}

}  // namespace tensord
