#ifndef TENSORD_ENGINE_TUNE_TRIAL_LANE_H_
#define TENSORD_ENGINE_TUNE_TRIAL_LANE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "engine/compiled/compiled_graph.h"
#include "engine/exec/stoppable_workers.h"
#include "engine/pool/pooled_device.h"
#include "engine/tune/tuner_options.h"

namespace tensord {

// The host's end of a copy, kept until the device is done with it.
using HostBytes = std::vector<std::byte>;

// What a trial's launches touch: kept until the device is done with it.
struct TrialMemory {
  std::shared_ptr<const CompiledGraph> graph;  // whose weights are operands
  std::vector<std::unique_ptr<Storage>> storages;
  std::vector<std::unique_ptr<KernelState>> states;
};

// One launch of a kernel on given operands.
struct TrialCall {
  const KernelEntry& entry;
  absl::Span<const StorageView> inputs;
  absl::Span<const StorageView> outputs;
  absl::Span<const Layout> layouts;
  const OpParams& params;
  const KernelState* state = nullptr;
  StorageView workspace;
};

// A lane of a pooled device for launches that no client asked for. It launches
// only while the device has no execution, and one launch at a time, so that an
// execution that comes waits for a part of one launch at most: kernels stop
// early (LaunchContext::is_stopped, StoppableWorkers), and such a launch is
// repeated.
//
// Threading: the tuner's thread.
// Ownership: borrows the device, the workers and the flag. The destructor waits
//   for work that was given up, as every lane's does.
class TrialLane {
 public:
  // Errors: the device's, when it has no more lanes.
  static absl::StatusOr<std::unique_ptr<TrialLane>> Create(
      PooledDevice& device, WorkerPool* workers,
      const std::atomic<bool>& is_stopped, const TunerOptions& options);

  Device& device() { return device_.device(); }

  // Launches once the device is idle, waits, and returns how long that took.
  // Errors: kCancelled when the tuner stops, kAborted when the device was not
  //   idle for idle_timeout, kUnavailable when it is lost or does not finish in
  //   launch_timeout, and the kernel's own. After an error `memory` is kept
  //   until the lane has passed what was enqueued.
  absl::StatusOr<absl::Duration> Launch(
      const TrialCall& call, const std::shared_ptr<TrialMemory>& memory);

  // Copies, and waits. Errors: as Launch; `bytes` is then kept as well.
  absl::Status Upload(const std::shared_ptr<HostBytes>& bytes, StorageView view,
                      const std::shared_ptr<TrialMemory>& memory);
  absl::Status Download(StorageView view,
                        const std::shared_ptr<HostBytes>& bytes,
                        const std::shared_ptr<TrialMemory>& memory);

  // Time that work of this lane has taken so far.
  absl::Duration spent() const { return spent_; }
  void Charge(absl::Duration spent) { spent_ += spent; }

 private:
  TrialLane(PooledDevice& device, WorkerPool* workers,
            const std::atomic<bool>& is_stopped, const TunerOptions& options,
            std::unique_ptr<Lane> lane);

  absl::Status AwaitIdle();
  absl::Status RunOnce(const TrialCall& call,
                       const std::shared_ptr<TrialMemory>& memory);
  // Waits for what was enqueued with `status`; `bytes` may be null.
  absl::Status Finish(absl::Status status,
                      const std::shared_ptr<TrialMemory>& memory,
                      const std::shared_ptr<HostBytes>& bytes);
  absl::Status AwaitWork();

  PooledDevice& device_;
  std::optional<StoppableWorkers> workers_;  // none where the host lent none
  const std::atomic<bool>& is_stopped_;
  const absl::Duration launch_timeout_;
  const absl::Duration idle_timeout_;
  const std::unique_ptr<Lane> lane_;
  absl::Duration spent_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TRIAL_LANE_H_
