#ifndef TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_PLAN_H_
#define TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_PLAN_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/backend.h"
#include "backends/api/launch_context.h"
#include "backends/cuda/libraries/conv_graph.h"
#include "backends/cuda/libraries/conv_problem.h"
#include "backends/cuda/libraries/product_plan.h"

namespace tensord::cuda {

// Scratch memory that a plan may use, whatever its problem.
inline constexpr uint64_t kConvWorkspaceBytes = uint64_t{64} << 20;

// One convolution, and the fastest of three ways to it on one device: cuDNN's
// graph with everything behind the convolution fused, its graph of the
// convolution alone with a kernel of our own behind it, or, for one tap and
// channels last, a product by cuBLASLt.
//
// Threading: immutable; many lanes run it at once. Ownership: owns its parts.
class ConvPlan {
 public:
  // Measures on the device; problems that were measured before are remembered
  // until the process ends. kUnimplemented where no library has a way.
  static absl::StatusOr<std::shared_ptr<const ConvPlan>> Create(
      const ConvProblem& problem, Device& device);

  absl::Status Run(const LaunchContext& context,
                   const ConvGraphPlan::Operands& operands) const;

 private:
  ConvPlan(const ConvProblem& problem, int ordinal)
      : problem_(problem), ordinal_(ordinal) {}

  absl::Status ChooseGraph(Device& device);
  void ConsiderProduct(Device& device);

  const ConvProblem problem_;
  const int ordinal_;
  // One of both.
  std::unique_ptr<ConvGraphPlan> graph_;
  std::shared_ptr<const ProductPlan> product_;
  bool has_own_epilogue_ = false;
  double measured_ns_ = 0;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_LIBRARIES_CONV_PLAN_H_
