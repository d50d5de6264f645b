#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_GRAPH_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_GRAPH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/libraries/conv_problem.h"
#include "backends/cuda/libraries/cudnn_descriptor.h"

namespace tensord::cuda {

// What a cuDNN graph is made for: the device of a handle, or one that is only
// described, for which plans are made where there is no such device.
// Threading and ownership: borrows both.
struct CudnnTarget {
  cudnnHandle_t handle = nullptr;
  const CudnnDescriptor* device_properties = nullptr;  // instead of the handle
};

// One way to compute a ConvProblem, ready to run.
//
// Threading: immutable; many threads run it at once, each with a handle.
// Ownership: owns the library's plan.
class ConvGraphPlan {
 public:
  struct Operands {
    const void* x = nullptr;
    const void* w = nullptr;
    const void* bias = nullptr;
    const void* addend = nullptr;
    void* y = nullptr;
    void* workspace = nullptr;
  };

  uint64_t workspace_bytes() const { return workspace_bytes_; }

  // Enqueues on the handle's stream.
  absl::Status Run(cudnnHandle_t handle, const Operands& operands) const;

 private:
  friend absl::StatusOr<std::vector<std::unique_ptr<ConvGraphPlan>>>
  PlanConvGraph(const ConvProblem& problem, const CudnnTarget& target,
                uint64_t max_workspace_bytes, int max_count);

  ConvGraphPlan(CudnnDescriptor plan, const ConvProblem& problem)
      : plan_(std::move(plan)), problem_(problem) {}

  CudnnDescriptor plan_;
  ConvProblem problem_;
  uint64_t workspace_bytes_ = 0;
};

// The library's ways for the problem with all that it adds behind the
// convolution, best first by its own model; at most `max_count`, and none that
// needs more scratch memory, rounds float32 factors where that is not allowed,
// or gives different results on different runs. Empty, or an error, where it
// has none: it fuses only some forms.
absl::StatusOr<std::vector<std::unique_ptr<ConvGraphPlan>>> PlanConvGraph(
    const ConvProblem& problem, const CudnnTarget& target,
    uint64_t max_workspace_bytes, int max_count);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_GRAPH_H_
