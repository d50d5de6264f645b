// ElementwiseChain as one kernel, whose text is made of the expression and the
// shapes and compiled when the node is prepared (chain_text.h), once on a
// machine (cubin_cache.h).
//
//   y[i] = f(x0[i], x1[i], ...), all broadcast to y's shape
//
// float32, float64, and 16-bit floats in float32, rounded at the end. y may be
// the buffer of an input of its own size. Without NVRTC the portable row
// interprets the expression.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/libraries/chain_text.h"
#include "backends/cuda/libraries/loaded_kernel.h"
#include "backends/cuda/libraries/operand_address.h"
#include "backends/cuda/libraries/sibling.h"
#include "backends/cuda/stream_of.h"

namespace tensord::cuda {
namespace {

constexpr int kThreads = 256;  // as the text says

constexpr const char* RowName(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return "elementwise_chain_f16_nvrtc";
    case DType::kBFloat16:
      return "elementwise_chain_bf16_nvrtc";
    case DType::kFloat64:
      return "elementwise_chain_f64_nvrtc";
    default:
      return "elementwise_chain_f32_nvrtc";
  }
}

absl::Status AcceptsChain(const NodeSite& site) {
  if (const auto& library = Nvrtc::Get(); !library.ok()) {
    return library.status();
  }
  return CheckChainText(site);
}

struct ChainState final : KernelState {
  std::shared_ptr<const LoadedKernel> kernel;  // null: the result is empty
  unsigned blocks = 0;
  int64_t element_bytes = 0;
};

absl::StatusOr<std::unique_ptr<KernelState>> PrepareChain(const NodeSite& site,
                                                          Device& device) {
  auto state = std::make_unique<ChainState>();
  if (site.output(0).shape.element_count() == 0) return state;
  const ChainText chain = MakeChainText(site);
  absl::StatusOr<std::shared_ptr<const LoadedKernel>> kernel =
      LoadedKernel::Load(chain.text, "chain", device.info().id.ordinal);
  if (absl::IsUnimplemented(kernel.status())) {
    return PrepareSibling(RowName(site.output_dtype(0)), site, device,
                          /*workspace_bytes=*/0, kernel.status());
  }
  if (!kernel.ok()) return kernel.status();
  state->kernel = *std::move(kernel);
  state->blocks = ForElements(chain.threads, kThreads).grid.x;
  state->element_bytes = ByteSize(site.output_dtype(0), 1);
  return state;
}

absl::Status RunOwnChain(const KernelCall& call) {
  const auto& state = static_cast<const ChainState&>(*call.state);
  if (state.kernel == nullptr) return absl::OkStatus();
  absl::InlinedVector<const void*, 8> addresses;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    addresses.push_back(
        InputAddress(call, static_cast<int>(i), state.element_bytes));
  }
  addresses.push_back(OutputAddress(call, 0, state.element_bytes));
  absl::InlinedVector<void*, 8> arguments;
  for (const void*& address : addresses) arguments.push_back(&address);
  return state.kernel->Launch(StreamOf(call.context), state.blocks, kThreads,
                              absl::MakeSpan(arguments));
}

absl::Status RunChain(const KernelCall& call) {
  return RunOrSibling(call, &RunOwnChain);
}

KernelCost ChainCost(const NodeSite& site) {
  const auto& expression = std::get<Expression>(site.params);
  const double elements = site.output(0).shape.element_count();
  double bytes = 0;
  for (const Layout& layout : site.layouts) {
    bytes += ByteSize(site.output_dtype(0), layout.shape.element_count());
  }
  // A step is a few operations, on cores that do two of them at once.
  constexpr double kStepFlops = 4;
  return {.flops = kStepFlops * elements * expression.steps.size(),
          .bytes = bytes,
          .efficiency = 0.5};
}

constexpr KernelEntry Row(DType dtype) {
  return {.op = OpKind::kElementwiseChain,
          .dtypes = All(dtype),
          .name = RowName(dtype),
          .source = "library:nvrtc",
          .accepts = &AcceptsChain,
          .prepare = &PrepareChain,
          .cost = &ChainCost,
          .run = &RunChain,
          .caps = {.in_place_inputs = 0xff}};
}

constexpr KernelEntry kRows[] = {Row(DType::kFloat32), Row(DType::kFloat64),
                                 Row(DType::kFloat16), Row(DType::kBFloat16)};

}  // namespace

absl::Span<const KernelEntry> NvrtcRows() { return kRows; }

}  // namespace tensord::cuda
