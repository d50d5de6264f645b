#ifndef TENSORD_ENGINE_PASSES_DEVICE_EVALUATOR_H_
#define TENSORD_ENGINE_PASSES_DEVICE_EVALUATOR_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "engine/infer/host_evaluator.h"

namespace tensord {

// Evaluates nodes with a backend's own kernels, so that a folded value is what
// that backend would have computed. The device must be synchronous and its
// storages host-addressable.
//
// Threading: one thread at a time; a compiler thread has its own.
// Ownership: owns its lane; the device, the kernels and the workers must
// outlive
//   it.
// Errors: besides HostEvaluator's, kResourceExhausted for a kernel that wants
// more
//   than kMaxWorkspaceBytes, and when the device has no memory.
class DeviceEvaluator : public HostEvaluator {
 public:
  // kFailedPrecondition for a device that is not fit, or without a lane left.
  static absl::StatusOr<std::unique_ptr<DeviceEvaluator>> Create(
      Device& device, absl::Span<const KernelEntry> kernels,
      WorkerPool* workers);

  static constexpr uint64_t kMaxWorkspaceBytes = uint64_t{64} << 20;

  absl::StatusOr<std::vector<HostTensor>> Evaluate(
      const Node& node, absl::Span<const HostTensor> inputs,
      absl::Span<const TensorType> output_types,
      EvaluationBudget& budget) override;

 private:
  DeviceEvaluator(Device& device, absl::Span<const KernelEntry> kernels,
                  WorkerPool* workers, std::unique_ptr<Lane> lane)
      : device_(device),
        kernels_(kernels),
        workers_(workers),
        lane_(std::move(lane)) {}

  absl::StatusOr<const KernelEntry*> FindKernel(const NodeSite& site) const;
  absl::StatusOr<std::unique_ptr<Storage>> ToDevice(const HostTensor& tensor);
  // Prepares and launches it; `operands` are the inputs', then the outputs'.
  absl::Status Run(const KernelEntry& kernel, const NodeSite& site,
                   absl::Span<const StorageView> operands,
                   uint64_t workspace_bytes);

  Device& device_;
  const absl::Span<const KernelEntry> kernels_;
  WorkerPool* const workers_;
  const std::unique_ptr<Lane> lane_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_DEVICE_EVALUATOR_H_
