// Conv by cuDNN's graphs, with what they can do behind a convolution:
//
//   y = activation(conv(x, w) + bias + residual)
//
// float32 (strict, or TF32 where the request allows it) with channels first,
// float16 and bfloat16 with channels first or last; sums are float32. Channels
// last is what tensor cores read, so there the weights are put into that order
// when the node is prepared, which takes weights that are known. Of the ways
// that the libraries propose the fastest is measured then (conv_plan.h). Relu
// gives 0 for a NaN where the portable kernels let it pass.
//
// Convolutions with one channel a group are declined: cuDNN has nothing good
// for them.

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/packed_weights.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/libraries/conv_plan.h"
#include "backends/cuda/libraries/conv_problem.h"
#include "backends/cuda/libraries/cudnn.h"
#include "backends/cuda/libraries/operand_address.h"
#include "backends/cuda/libraries/sibling.h"
#include "backends/cuda/shared_weights.h"

namespace tensord::cuda {
namespace {

// Whether the weights are the same bytes in both orders.
bool HasOneTap(const ConvProblem& problem) {
  return problem.WeightCount() ==
         problem.output_channels * (problem.input_channels / problem.groups);
}

absl::Status AcceptsConv(const NodeSite& site) {
  if (const auto& library = Cudnn::Get(); !library.ok()) {
    return library.status();
  }
  const absl::StatusOr<ConvSite> conv = ResolveConv(site);
  if (!conv.ok() || site.layouts.empty()) return conv.status();
  const ConvProblem& problem = conv->problem;
  if (problem.groups > 1 && problem.groups == problem.input_channels) {
    return absl::UnimplementedError(
        absl::StrCat(problem.groups, " groups of one channel"));
  }
  if (problem.is_channels_last && !HasOneTap(problem) &&
      site.host_constant(1) == nullptr) {
    return absl::FailedPreconditionError(
        "the weights are computed, and would have to be turned");
  }
  return absl::OkStatus();
}

constexpr const char* ConvRowName(DType dtype) {
  return dtype == DType::kFloat32   ? "conv_f32_cudnn"
         : dtype == DType::kFloat16 ? "conv_f16_cudnn"
                                    : "conv_bf16_cudnn";
}

uint64_t ConvWorkspaceBytes(const NodeSite&) {
  return kConvWorkspaceBytes + kWorkspaceSlack;
}

struct ConvState final : KernelState, UsesPackedWeights {
  void AppendPacked(Packed& to) const override {
    if (weights != nullptr) to.push_back(weights);
  }

  std::shared_ptr<const ConvPlan> plan;
  std::shared_ptr<const Storage> weights;  // null: the node's own
  int bias_input = -1;
  int addend_input = -1;
  int64_t element_bytes = 0;
};

// [K, C, T...] as [K, T..., C].
std::vector<std::byte> ChannelsLast(absl::Span<const std::byte> weights,
                                    const ConvProblem& problem) {
  const int64_t bytes = ByteSize(problem.dtype, 1);
  const int64_t channels = problem.input_channels / problem.groups;
  const int64_t taps =
      problem.WeightCount() / (problem.output_channels * channels);
  std::vector<std::byte> turned(weights.size());
  for (int64_t k = 0; k < problem.output_channels; ++k) {
    const std::byte* from = weights.data() + k * channels * taps * bytes;
    std::byte* to = turned.data() + k * channels * taps * bytes;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t t = 0; t < taps; ++t) {
        std::memcpy(to + (t * channels + c) * bytes,
                    from + (c * taps + t) * bytes, bytes);
      }
    }
  }
  return turned;
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareConv(const NodeSite& site,
                                                         Device& device) {
  const absl::StatusOr<ConvSite> conv = ResolveConv(site);
  if (!conv.ok()) return conv.status();
  const ConvProblem& problem = conv->problem;
  absl::StatusOr<std::shared_ptr<const ConvPlan>> plan =
      ConvPlan::Create(problem, device);
  if (absl::IsUnimplemented(plan.status())) {
    return PrepareSibling(ConvRowName(problem.dtype), site, device,
                          ConvWorkspaceBytes(site), plan.status());
  }
  if (!plan.ok()) return plan.status();
  auto state = std::make_unique<ConvState>();
  state->plan = *std::move(plan);
  state->bias_input = conv->bias_input;
  state->addend_input = conv->addend_input;
  state->element_bytes = ByteSize(problem.dtype, 1);
  if (problem.is_channels_last && !HasOneTap(problem)) {
    const absl::Span<const std::byte> weights(
        site.host_constant(1), ByteSize(problem.dtype, problem.WeightCount()));
    const auto& taps = problem.taps;
    absl::StatusOr<std::shared_ptr<const Storage>> turned = SharedWeights(
        device, weights,
        absl::StrCat("channels last of ", DTypeName(problem.dtype), " ",
                     problem.output_channels, " ", taps[0], " ", taps[1], " ",
                     taps[2]),
        [&] { return ChannelsLast(weights, problem); });
    if (!turned.ok()) return turned.status();
    state->weights = *std::move(turned);
  }
  return state;
}

absl::Status RunOwnConv(const KernelCall& call) {
  const auto& state = static_cast<const ConvState&>(*call.state);
  const auto address = [&](int input) {
    return InputAddress(call, input, state.element_bytes);
  };
  return state.plan->Run(
      call.context,
      {.x = address(0),
       .w = state.weights != nullptr ? state.weights->address() : address(1),
       .bias = address(state.bias_input),
       .addend = address(state.addend_input),
       .y = OutputAddress(call, 0, state.element_bytes),
       .workspace = WorkspaceAddress(call)});
}

absl::Status RunConv(const KernelCall& call) {
  return RunOrSibling(call, &RunOwnConv);
}

// DeviceInfo's rate is that of float32; tensor cores take 16-bit factors about
// ten times as fast. Their kernels read channels last: with channels first the
// library turns x and y, by two more launches.
KernelCost ConvCost(const NodeSite& site) {
  const absl::StatusOr<ConvSite> conv = ResolveConv(site);
  if (!conv.ok()) return {};  // AcceptsConv() has seen it
  constexpr double kTensorCores = 10;
  constexpr double kLaunchFlops = 5e7;  // of the time that a launch takes
  const ConvProblem& problem = conv->problem;
  const bool is_float32 = problem.dtype == DType::kFloat32;
  const double outputs = problem.OutputCount();
  const double weights = problem.WeightCount();
  const double depth = weights / problem.output_channels;
  double flops = 2 * outputs * depth / (is_float32 ? 1 : kTensorCores);
  double moved = problem.InputCount() + outputs;
  if (!is_float32 && !problem.is_channels_last) {
    flops += 2 * kLaunchFlops;
    moved *= 3;
  }
  return {.flops = flops,
          .bytes = (moved + weights) * ByteSize(problem.dtype, 1),
          .efficiency = 0.6};
}

constexpr KernelEntry Row(DType dtype) {
  return {.op = OpKind::kConv,
          .dtypes = All(dtype),
          .name = ConvRowName(dtype),
          .source = "library:cudnn",
          .accepts = &AcceptsConv,
          .workspace_bytes = &ConvWorkspaceBytes,
          .prepare = &PrepareConv,
          .cost = &ConvCost,
          .run = &RunConv,
          .caps = {.takes_epilogue = true,
                   .takes_channels_last = dtype != DType::kFloat32}};
}

constexpr KernelEntry kRows[] = {Row(DType::kFloat32), Row(DType::kFloat16),
                                 Row(DType::kBFloat16)};

}  // namespace

absl::Span<const KernelEntry> CudnnRows() { return kRows; }

}  // namespace tensord::cuda
