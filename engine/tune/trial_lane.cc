#include "engine/tune/trial_lane.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// How often a trial looks whether its device is idle, or the tuner stops.
constexpr absl::Duration kLook = absl::Milliseconds(2);

absl::Duration Since(std::chrono::steady_clock::time_point start) {
  return absl::FromChrono(std::chrono::steady_clock::now() - start);
}

}  // namespace

TrialLane::TrialLane(PooledDevice& device, WorkerPool* workers,
                     const std::atomic<bool>& is_stopped,
                     const TunerOptions& options, std::unique_ptr<Lane> lane)
    : device_(device),
      is_stopped_(is_stopped),
      launch_timeout_(options.launch_timeout),
      idle_timeout_(options.idle_timeout),
      lane_(std::move(lane)) {
  if (workers != nullptr) workers_.emplace(*workers, device.must_yield());
}

absl::StatusOr<std::unique_ptr<TrialLane>> TrialLane::Create(
    PooledDevice& device, WorkerPool* workers,
    const std::atomic<bool>& is_stopped, const TunerOptions& options) {
  TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane,
                           device.device().CreateLane());
  return std::unique_ptr<TrialLane>(
      new TrialLane(device, workers, is_stopped, options, std::move(lane)));
}

absl::StatusOr<absl::Duration> TrialLane::Launch(
    const TrialCall& call, const std::shared_ptr<TrialMemory>& memory) {
  for (;;) {
    TENSORD_RETURN_IF_ERROR(AwaitIdle());
    const auto start = std::chrono::steady_clock::now();
    const absl::Status status = RunOnce(call, memory);
    const absl::Duration duration = Since(start);
    spent_ += duration;
    const bool was_disturbed =
        device_.must_yield().load(std::memory_order_relaxed);
    // What ran beside an execution says nothing of the kernel, and it may have
    // been stopped half way, whatever it returned.
    if (was_disturbed && (status.ok() || absl::IsCancelled(status))) continue;
    if (!status.ok()) return status;
    return duration;
  }
}

absl::Status TrialLane::Upload(const std::shared_ptr<HostBytes>& bytes,
                               StorageView view,
                               const std::shared_ptr<TrialMemory>& memory) {
  TENSORD_RETURN_IF_ERROR(AwaitIdle());
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status =
      Finish(lane_->CopyToDevice(*bytes, view), memory, bytes);
  spent_ += Since(start);
  return status;
}

absl::Status TrialLane::Download(StorageView view,
                                 const std::shared_ptr<HostBytes>& bytes,
                                 const std::shared_ptr<TrialMemory>& memory) {
  TENSORD_RETURN_IF_ERROR(AwaitIdle());
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status =
      Finish(lane_->CopyToHost(view, absl::MakeSpan(*bytes)), memory, bytes);
  spent_ += Since(start);
  return status;
}

absl::Status TrialLane::AwaitIdle() {
  const absl::Time end = absl::Now() + idle_timeout_;
  for (;;) {
    if (is_stopped_.load()) return absl::CancelledError("the tuner stops");
    if (device_.is_lost()) return device_.health();
    if (device_.TryBorrow()) return absl::OkStatus();
    if (absl::Now() >= end) {
      return absl::AbortedError(absl::StrCat(
          "its device was busy for ", absl::FormatDuration(idle_timeout_)));
    }
    absl::SleepFor(kLook);
  }
}

absl::Status TrialLane::RunOnce(const TrialCall& call,
                                const std::shared_ptr<TrialMemory>& memory) {
  const LaunchContext context{
      .lane = lane_.get(),
      .workspace = call.workspace,
      .workers = workers_.has_value() ? &*workers_ : nullptr,
      .is_stopped = &device_.must_yield()};
  return Finish(call.entry.run({.context = context,
                                .inputs = call.inputs,
                                .outputs = call.outputs,
                                .layouts = call.layouts,
                                .params = call.params,
                                .state = call.state}),
                memory, nullptr);
}

absl::Status TrialLane::Finish(absl::Status status,
                               const std::shared_ptr<TrialMemory>& memory,
                               const std::shared_ptr<HostBytes>& bytes) {
  if (status.ok()) status = AwaitWork();
  if (status.ok()) return status;
  // Whatever failed, a part of it may be on its way.
  lane_->Retain(memory);
  if (bytes != nullptr) lane_->Retain(bytes);
  return status;
}

absl::Status TrialLane::AwaitWork() {
  TENSORD_ASSIGN_OR_RETURN(const CompletionHandle handle,
                           lane_->RecordCompletion());
  if (handle.state() != CompletionHandle::State::kPending) {
    return absl::OkStatus();
  }
  const absl::Time deadline = absl::Now() + launch_timeout_;
  for (;;) {
    const absl::Status status =
        handle.WaitUntil(std::min(absl::Now() + kLook, deadline));
    if (!absl::IsDeadlineExceeded(status)) return status;
    const bool is_stopped = is_stopped_.load();
    if (!is_stopped && absl::Now() < deadline) continue;
    if (is_stopped) return absl::CancelledError("the tuner stops");
    return absl::UnavailableError(absl::StrCat(
        "a launch was not done after ", absl::FormatDuration(launch_timeout_)));
  }
}

}  // namespace tensord
