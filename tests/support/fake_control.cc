#include "tests/support/fake_control.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

// Every launch and copy takes so long on the device's own clock.
constexpr int64_t kWorkNs = 1000;

}  // namespace

void FakeControl::Pause() {
  absl::MutexLock lock(&mu_);
  is_paused_ = true;
}

void FakeControl::Resume() {
  absl::MutexLock lock(&mu_);
  is_paused_ = false;
  for (auto& lane : lanes_) lane->permits = 0;
  changed_.SignalAll();
}

int FakeControl::Step(int lane_index, int count) {
  absl::MutexLock lock(&mu_);
  FakeLaneQueue& lane = *lanes_[lane_index];
  lane.permits = count;
  changed_.SignalAll();
  while (lane.is_executing || CanExecute(lane)) changed_.Wait(&mu_);
  AwaitDeliveries();
  const int executed = count - lane.permits;
  lane.permits = 0;
  return executed;
}

bool FakeControl::AwaitLaunches(int64_t count, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  absl::MutexLock lock(&mu_);
  while (counts_.launches_executed < count) {
    if (changed_.WaitWithDeadline(&mu_, deadline)) return false;
  }
  return true;
}

void FakeControl::HoldCompletions() {
  absl::MutexLock lock(&mu_);
  is_holding_ = true;
}

void FakeControl::DeliverCompletions(FakeDelivery order) {
  absl::MutexLock lock(&mu_);
  MoveHeldToDue(order);
  AwaitDeliveries();
}

void FakeControl::StopHolding() {
  absl::MutexLock lock(&mu_);
  is_holding_ = false;
  MoveHeldToDue(FakeDelivery::kAsFinished);
  AwaitDeliveries();
}

int64_t FakeControl::held_completion_count() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int64_t>(held_.size());
}

void FakeControl::FailLaunch(int64_t launch_index) {
  absl::MutexLock lock(&mu_);
  failing_launch_ = counts_.launches_enqueued + launch_index;
}

void FakeControl::Fault(absl::string_view reason) {
  absl::MutexLock lock(&mu_);
  SetFault(absl::UnavailableError(
      absl::StrCat("device ", device_name_, " is lost: ", reason)));
  AwaitDeliveries();
}

void FakeControl::HangLaunch(int64_t launch_index) {
  absl::MutexLock lock(&mu_);
  hanging_launch_ = counts_.launches_enqueued + launch_index;
}

void FakeControl::ReleaseHang() {
  absl::MutexLock lock(&mu_);
  hanging_launch_ = -1;
  changed_.SignalAll();
}

void FakeControl::RefuseRecordings() {
  absl::MutexLock lock(&mu_);
  refuses_recordings_ = true;
}

void FakeControl::SetPrepareHook(
    std::function<absl::Status(const NodeSite&)> hook) {
  absl::MutexLock lock(&mu_);
  prepare_hook_ = std::move(hook);
}

void FakeControl::SetExecuteHook(
    std::function<void(const FakeLaunchInfo&)> hook) {
  absl::MutexLock lock(&mu_);
  execute_hook_ = std::move(hook);
}

FakeCounts FakeControl::counts() const {
  absl::MutexLock lock(&mu_);
  return counts_;
}

bool FakeControl::Open(absl::string_view device_name) {
  absl::MutexLock lock(&mu_);
  if (is_open_) return false;
  is_open_ = true;
  device_name_ = std::string(device_name);
  lanes_.clear();
  fault_ = absl::OkStatus();
  failing_launch_ = hanging_launch_ = -1;
  is_closing_ = refuses_recordings_ = false;
  counts_ = {};
  return true;
}

void FakeControl::Closed() {
  absl::MutexLock lock(&mu_);
  is_open_ = false;
}

void FakeControl::RequestClose() {
  absl::MutexLock lock(&mu_);
  is_closing_ = true;
  MoveHeldToDue(FakeDelivery::kAsFinished);
}

absl::Status FakeControl::health() const {
  absl::MutexLock lock(&mu_);
  return fault_;
}

absl::Status FakeControl::RunPrepareHook(const NodeSite& site) {
  std::function<absl::Status(const NodeSite&)> hook;
  {
    absl::MutexLock lock(&mu_);
    ++counts_.prepares;
    if (!fault_.ok()) return fault_;
    hook = prepare_hook_;
  }
  return hook ? hook(site) : absl::OkStatus();
}

int FakeControl::AddLane() {
  absl::MutexLock lock(&mu_);
  lanes_.push_back(std::make_unique<FakeLaneQueue>());
  return static_cast<int>(lanes_.size()) - 1;
}

void FakeControl::RemoveLane(int lane_index) {
  absl::MutexLock lock(&mu_);
  while (!IsIdle(lane_index)) changed_.Wait(&mu_);
  lanes_[lane_index]->is_removed = true;
}

absl::Status FakeControl::Enqueue(int lane_index, FakeOperation operation) {
  absl::MutexLock lock(&mu_);
  if (!fault_.ok()) return fault_;
  Push(*lanes_[lane_index], lane_index, std::move(operation));
  changed_.SignalAll();
  return absl::OkStatus();
}

// A program runs as its operations would: a test steps, fails and hangs them
// one by one.
absl::Status FakeControl::EnqueueProgram(
    int lane_index, uint64_t program_serial,
    const std::vector<FakeOperation>& operations) {
  absl::MutexLock lock(&mu_);
  if (!fault_.ok()) return fault_;
  ++counts_.programs_submitted;
  for (FakeOperation operation : operations) {
    operation.uses.push_back(program_serial);
    counts_.launches_replayed += operation.kind == FakeOperation::Kind::kLaunch;
    Push(*lanes_[lane_index], lane_index, std::move(operation));
  }
  changed_.SignalAll();
  return absl::OkStatus();
}

void FakeControl::Push(FakeLaneQueue& lane, int lane_index,
                       FakeOperation operation) {
  operation.sequence = next_sequence_++;
  switch (operation.kind) {
    case FakeOperation::Kind::kLaunch:
      operation.launch.lane_index = lane_index;
      operation.launch.launch_index = counts_.launches_enqueued++;
      break;
    case FakeOperation::Kind::kCopy:
      ++counts_.copies_enqueued;
      break;
    case FakeOperation::Kind::kCompletion:
      ++counts_.completions_recorded;
      break;
    case FakeOperation::Kind::kRetain:
      ++counts_.retained_owners;
      break;
    case FakeOperation::Kind::kTimeMark:
      lane.time_marks[operation.time_mark].reset();
      break;
  }
  lane.operations.push_back(std::move(operation));
}

bool FakeControl::refuses_recordings() const {
  absl::MutexLock lock(&mu_);
  return refuses_recordings_;
}

void FakeControl::CountRecorded() {
  absl::MutexLock lock(&mu_);
  ++counts_.programs_recorded;
}

void FakeControl::ReserveTimeMarks(int lane_index, int count) {
  absl::MutexLock lock(&mu_);
  lanes_[lane_index]->time_marks.resize(count);
}

absl::Status FakeControl::ReadTimeMarks(int lane_index,
                                        absl::Span<int64_t> nanoseconds) {
  absl::MutexLock lock(&mu_);
  const auto& marks = lanes_[lane_index]->time_marks;
  for (size_t i = 0; i < nanoseconds.size(); ++i) {
    if (i >= marks.size() || !marks[i].has_value()) {
      return absl::FailedPreconditionError(
          absl::StrCat("device ", device_name_, ": lane ", lane_index,
                       " has not passed time mark ", i));
    }
    nanoseconds[i] = *marks[i] - *marks[0];
  }
  return absl::OkStatus();
}

absl::Status FakeControl::Drain(int lane_index, absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  while (!IsIdle(lane_index)) {
    if (changed_.WaitWithDeadline(&mu_, deadline) && !IsIdle(lane_index)) {
      return absl::DeadlineExceededError(absl::StrCat(
          "device ", device_name_, ": lane ", lane_index, " has ",
          lanes_[lane_index]->operations.size(), " operations in flight"));
    }
  }
  return fault_;
}

uint64_t FakeControl::AddResource(int64_t FakeCounts::*alive) {
  absl::MutexLock lock(&mu_);
  ++(counts_.*alive);
  if (alive == &FakeCounts::storages_alive) ++counts_.allocations;
  alive_.insert(next_serial_);
  return next_serial_++;
}

void FakeControl::RemoveResource(uint64_t serial, int64_t FakeCounts::*alive) {
  absl::MutexLock lock(&mu_);
  --(counts_.*alive);
  alive_.erase(serial);
}

void FakeControl::ThreadMain() {
  absl::MutexLock lock(&mu_);
  for (;;) {
    if (!due_.empty() || !discarded_.empty()) {
      DeliverDue();
    } else if (FakeLaneQueue* lane = NextLane()) {
      ExecuteFront(*lane);
    } else if (!is_holding_ && !held_.empty()) {
      // Reversed delivery: what finished since the device was last idle.
      MoveHeldToDue(FakeDelivery::kReversed);
    } else if (is_closing_) {
      return;
    } else {
      changed_.Wait(&mu_);
    }
  }
}

bool FakeControl::CanExecute(FakeLaneQueue& lane) {
  if (lane.operations.empty() || lane.is_executing) return false;
  const FakeOperation& front = lane.operations.front();
  if (!front.is_work()) return true;
  if (front.kind == FakeOperation::Kind::kLaunch &&
      front.launch.launch_index == hanging_launch_) {
    return false;
  }
  return !is_paused_ || lane.permits > 0;
}

FakeLaneQueue* FakeControl::NextLane() {
  FakeLaneQueue* best = nullptr;
  for (auto& lane : lanes_) {
    if (!CanExecute(*lane)) continue;
    const bool is_older =
        best != nullptr &&
        lane->operations.front().sequence < best->operations.front().sequence;
    if (best == nullptr ||
        is_older == (lane_order_ == FakeLaneOrder::kOldestFirst)) {
      best = lane.get();
    }
  }
  return best;
}

void FakeControl::ExecuteFront(FakeLaneQueue& lane) {
  FakeOperation operation = std::move(lane.operations.front());
  lane.operations.pop_front();
  lane.is_executing = true;
  if (operation.is_work()) {
    if (lane.permits > 0) --lane.permits;
    if (!lane.start_ns.has_value()) lane.start_ns = clock_ns_;
    clock_ns_ += kWorkNs;
    if (absl::Status status = ExecuteWork(operation); !status.ok()) {
      SetFault(std::move(status));
    } else if (operation.kind == FakeOperation::Kind::kLaunch) {
      ++counts_.launches_executed;
    }
  } else {
    Finish(lane, operation);
  }
  // The operation may hold the last reference to storages, whose end takes the
  // lock.
  mu_.Unlock();
  operation = {};
  mu_.Lock();
  lane.is_executing = false;
  changed_.SignalAll();
}

absl::Status FakeControl::ExecuteWork(const FakeOperation& operation) {
  if (!fault_.ok()) return fault_;
  if (operation.kind == FakeOperation::Kind::kLaunch &&
      operation.launch.launch_index == failing_launch_) {
    return absl::UnavailableError(absl::StrCat(
        "device ", device_name_, " is lost: injected fault at launch ",
        operation.launch.launch_index, " (", operation.launch.kernel, ")"));
  }
  for (uint64_t serial : operation.uses) {
    if (alive_.count(serial) != 0) continue;
    ++counts_.dropped_in_flight;
    return absl::InternalError(
        absl::StrCat("device ", device_name_,
                     ": work uses what was freed while it was in flight"));
  }
  const auto hook =
      operation.kind == FakeOperation::Kind::kLaunch ? execute_hook_ : nullptr;
  mu_.Unlock();
  if (hook) hook(operation.launch);
  absl::Status status = operation.work();
  mu_.Lock();
  return status;
}

void FakeControl::Finish(FakeLaneQueue& lane, FakeOperation& operation) {
  if (operation.kind == FakeOperation::Kind::kRetain) {
    --counts_.retained_owners;
    return;
  }
  if (operation.kind == FakeOperation::Kind::kTimeMark) {
    lane.time_marks[operation.time_mark] = clock_ns_;
    return;
  }
  FakeFinished finished{std::move(operation.completion),
                        fault_,
                        {lane.start_ns.value_or(clock_ns_), clock_ns_}};
  lane.start_ns.reset();
  const bool is_kept_back = is_holding_ || delivery_ == FakeDelivery::kReversed;
  (is_kept_back ? held_ : due_).push_back(std::move(finished));
}

void FakeControl::DeliverDue() {
  std::vector<FakeFinished> due = std::exchange(due_, {});
  std::vector<FakeOperation> discarded = std::exchange(discarded_, {});
  is_delivering_ = true;
  mu_.Unlock();
  for (FakeFinished& finished : due) {
    finished.completion->Finish(finished.status, finished.timestamps);
  }
  due.clear();
  discarded.clear();
  mu_.Lock();
  is_delivering_ = false;
  changed_.SignalAll();
}

void FakeControl::SetFault(absl::Status fault) {
  if (!fault_.ok()) return;
  fault_ = absl::UnavailableError(fault.message());
  for (auto& lane : lanes_) {
    for (FakeOperation& operation : lane->operations) {
      if (operation.kind == FakeOperation::Kind::kCompletion) {
        due_.push_back({std::move(operation.completion), fault_, {}});
      } else if (operation.kind == FakeOperation::Kind::kRetain) {
        --counts_.retained_owners;
      }
      discarded_.push_back(std::move(operation));
    }
    lane->operations.clear();
  }
  changed_.SignalAll();
}

void FakeControl::MoveHeldToDue(FakeDelivery order) {
  if (order == FakeDelivery::kReversed) {
    std::reverse(held_.begin(), held_.end());
  }
  std::move(held_.begin(), held_.end(), std::back_inserter(due_));
  held_.clear();
  changed_.SignalAll();
}

// Completions that will become ready without anybody's doing.
bool FakeControl::HasDeliveries() const {
  return is_delivering_ || !due_.empty() || !discarded_.empty() ||
         (!is_holding_ && !held_.empty());
}

void FakeControl::AwaitDeliveries() {
  while (is_open_ && HasDeliveries()) changed_.Wait(&mu_);
}

bool FakeControl::IsIdle(int lane_index) const {
  const FakeLaneQueue& lane = *lanes_[lane_index];
  return lane.operations.empty() && !lane.is_executing;
}

}  // namespace tensord
