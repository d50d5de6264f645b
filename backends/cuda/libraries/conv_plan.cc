#include "backends/cuda/libraries/conv_plan.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "backends/cuda/cuda_status.h"
#include "backends/cuda/current_device.h"
#include "backends/cuda/kernels/simple_epilogue_launch.h"
#include "backends/cuda/libraries/trial.h"
#include "backends/cuda/stream_of.h"

namespace tensord::cuda {
namespace {

// How many of cuDNN's proposals are measured, of each of its two graphs. Those
// that it compiles take a second each.
constexpr int kFusedProposals = 6;
constexpr int kPlainProposals = 3;

struct Plans {
  absl::Mutex mu;
  absl::flat_hash_map<std::string, std::shared_ptr<const ConvPlan>> by_key
      ABSL_GUARDED_BY(mu);
};
Plans& AllPlans() {
  static auto* const plans = new Plans;
  return *plans;
}

bool HasEpilogue(const ConvProblem& problem) {
  return problem.has_bias || problem.has_addend ||
         problem.activation != Activation::kNone;
}

ConvProblem WithoutEpilogue(ConvProblem problem) {
  problem.has_bias = problem.has_addend = false;
  problem.activation = Activation::kNone;
  return problem;
}

// What a kernel of our own behind the convolution takes: one more launch, and
// y's bytes there and back at about 2.5 TB/s. Not measured: it knows lanes, not
// a trial's stream.
double OwnEpilogueNs(const ConvProblem& problem) {
  constexpr double kLaunchNs = 1500;
  constexpr double kBytesPerNs = 2500;
  const double bytes =
      static_cast<double>(ByteSize(problem.dtype, problem.OutputCount()) *
                          (problem.has_addend ? 3 : 2));
  return kLaunchNs + bytes / kBytesPerNs;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const ConvPlan>> ConvPlan::Create(
    const ConvProblem& problem, Device& device) {
  const int ordinal = device.info().id.ordinal;
  const std::string key = absl::StrCat(ordinal, " ", problem.Key());
  Plans& plans = AllPlans();
  {
    absl::MutexLock lock(&plans.mu);
    if (auto it = plans.by_key.find(key); it != plans.by_key.end()) {
      return it->second;
    }
  }
  absl::Status status = CudaStatus(MakeCurrent(ordinal), "cudaSetDevice");
  if (!status.ok()) return status;
  std::shared_ptr<ConvPlan> plan(new ConvPlan(problem, ordinal));
  status = plan->ChooseGraph(device);
  if (absl::IsUnavailable(status)) return status;
  plan->ConsiderProduct(device);
  if (plan->graph_ == nullptr && plan->product_ == nullptr) {
    return status.ok() ? absl::UnimplementedError("cuDNN has no way for it")
                       : status;
  }
  absl::MutexLock lock(&plans.mu);
  return plans.by_key.try_emplace(key, std::move(plan)).first->second;
}

absl::Status ConvPlan::ChooseGraph(Device& device) {
  const auto bytes = [&](int64_t count) {
    return ByteSize(problem_.dtype, count);
  };
  const uint64_t y_bytes = bytes(problem_.OutputCount());
  absl::StatusOr<std::unique_ptr<Trial>> trial = Trial::Create(
      device, problem_.dtype,
      {bytes(problem_.InputCount()), bytes(problem_.WeightCount()), y_bytes,
       problem_.has_addend ? y_bytes : 0, bytes(problem_.output_channels),
       kConvWorkspaceBytes});
  absl::StatusOr<CudnnHandle> handle =
      CudnnHandle::Lend(ordinal_, cudaStreamPerThread);
  if (!handle.ok()) return handle.status();

  absl::Status last;
  const auto consider = [&](const ConvProblem& problem, int proposals,
                            bool has_own_epilogue) -> absl::Status {
    auto plans = PlanConvGraph(problem, {.handle = handle->get()},
                               kConvWorkspaceBytes, proposals);
    if (!plans.ok()) {
      last = plans.status();
      return absl::OkStatus();
    }
    for (std::unique_ptr<ConvGraphPlan>& plan : *plans) {
      double ns = 0;
      if (trial.ok()) {
        const ConvGraphPlan::Operands operands{
            .x = (*trial)->buffer(0),
            .w = (*trial)->buffer(1),
            .bias = (*trial)->buffer(4),
            .addend = (*trial)->buffer(3),
            .y = (*trial)->buffer(2),
            .workspace = (*trial)->buffer(5)};
        const absl::StatusOr<double> measured =
            (*trial)->MeasureNs([&](cudaStream_t stream) -> absl::Status {
              absl::Status status = CudnnStatus(
                  Cudnn::Get()->cudnnSetStream(handle->get(), stream),
                  "cudnnSetStream");
              return status.ok() ? plan->Run(handle->get(), operands) : status;
            });
        if (absl::IsUnavailable(measured.status())) return measured.status();
        if (!measured.ok()) {
          last = measured.status();
          continue;  // a proposal that does not run is no choice
        }
        ns = *measured + (has_own_epilogue ? OwnEpilogueNs(problem_) : 0);
      }
      if (graph_ == nullptr || ns < measured_ns_) {
        graph_ = std::move(plan);
        has_own_epilogue_ = has_own_epilogue;
        measured_ns_ = ns;
      }
      // Without memory for a trial, the library's own first choice.
      if (!trial.ok()) break;
    }
    return absl::OkStatus();
  };
  absl::Status status = consider(problem_, kFusedProposals, false);
  if (status.ok() && HasEpilogue(problem_) &&
      (trial.ok() || graph_ == nullptr)) {
    status = consider(WithoutEpilogue(problem_), kPlainProposals, true);
  }
  if (!status.ok()) return status;
  return graph_ == nullptr ? last : absl::OkStatus();
}

void ConvPlan::ConsiderProduct(Device& device) {
  if (!problem_.IsProduct() || problem_.activation == Activation::kClip) return;
  const int64_t pixels = problem_.OutputCount() / problem_.output_channels;
  const ProductProblem product{
      .dtype = problem_.dtype,
      .allows_tf32 = problem_.allows_tf32,
      .m = pixels,
      .n = problem_.output_channels,
      .k = problem_.input_channels,
      .transposes_b = true,
      .beta = problem_.has_addend ? 1.0f : 0.0f,
      .has_bias = problem_.has_bias,
      .activation = problem_.activation,
      .alignment = static_cast<uint32_t>(problem_.alignment)};
  absl::StatusOr<std::shared_ptr<const ProductPlan>> plan =
      ProductPlan::Create(product, device);
  if (!plan.ok()) return;
  const double ns = (*plan)->measured_ns();
  if (graph_ != nullptr && (ns == 0 || ns >= measured_ns_)) return;
  product_ = *std::move(plan);
  graph_ = nullptr;
  has_own_epilogue_ = false;
  measured_ns_ = ns;
}

absl::Status ConvPlan::Run(const LaunchContext& context,
                           const ConvGraphPlan::Operands& operands) const {
  if (product_ != nullptr) {
    return product_->Run(StreamOf(context), {.a = operands.x,
                                             .b = operands.w,
                                             .addend = operands.addend,
                                             .bias = operands.bias,
                                             .y = operands.y,
                                             .workspace = operands.workspace});
  }
  absl::StatusOr<CudnnHandle> handle =
      CudnnHandle::Lend(ordinal_, StreamOf(context));
  if (!handle.ok()) return handle.status();
  absl::Status status = graph_->Run(handle->get(), operands);
  if (!has_own_epilogue_ || !status.ok()) return status;
  const int64_t pixels =
      problem_.OutputCount() / problem_.output_channels / problem_.images;
  return LaunchSimpleEpilogue(context,
                              {.dtype = problem_.dtype,
                               .count = problem_.OutputCount(),
                               .channels = problem_.output_channels,
                               .inner = problem_.is_channels_last ? 1 : pixels,
                               .bias = operands.bias,
                               .addend = operands.addend,
                               .y = operands.y,
                               .activation = problem_.activation,
                               .low = 0,
                               .high = problem_.high});
}

}  // namespace tensord::cuda
