// ElementwiseChain: an expression, interpreted.
//
//   y[i] = f(x0[i], x1[i], ...), all broadcast to y's shape
//
// Everything is contiguous. y may be the buffer of an input of its own size.
// Computes in ComputeType<T>; a step does what the kernel of its operator does,
// but a 16-bit result is rounded only at the end of the chain. 8-bit integers
// are computed in float32; the result is rounded to the nearest integer, of two
// the even one, and saturated.

#include <cstdint>
#include <memory>
#include <utility>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/byte_plan.h"

namespace tensord {
namespace {

template <typename T>
struct ChainState final : KernelState {
  explicit ChainState(const NodeSite& site)
      : plan(std::get<Expression>(site.params),
             site.layouts.subspan(0, site.input_count), site.output(0).shape) {}

  uint64_t footprint_bytes() const override { return plan.footprint_bytes(); }

  const PlanOf<T> plan;
};

}  // namespace

absl::Status AcceptsElementwiseChain(const NodeSite& site) {
  return CheckExpression(std::get<Expression>(site.params));
}

template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareElementwiseChain(
    const NodeSite& site, Device&) {
  return std::make_unique<ChainState<T>>(site);
}

KernelCost ElementwiseChainCost(const NodeSite& site) {
  const int64_t elements = site.output(0).shape.element_count();
  double bytes = ByteSize(site.output_dtype(0), elements);
  for (int i = 0; i < site.input_count; ++i) {
    bytes += ByteSize(site.input_dtype(i), site.input(i).shape.element_count());
  }
  // A step goes over a block that is in the innermost cache.
  return {.flops = ExpressionFlops(std::get<Expression>(site.params)) *
                   static_cast<double>(elements),
          .bytes = bytes,
          .efficiency = 0.05};
}

template <typename T>
absl::Status RunElementwiseChain(const KernelCall& call) {
  const auto& plan = static_cast<const ChainState<T>&>(*call.state).plan;
  call.context.workers->ParallelFor(
      call.output_layout(0).shape.element_count(), plan.grain(),
      [&](int64_t begin, int64_t end) {
        plan.Evaluate(
            begin, end, [&](int i) { return call.input<T>(i); },
            call.output<T>(0));
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                      \
  template absl::StatusOr<std::unique_ptr<KernelState>>             \
  PrepareElementwiseChain<T>(const NodeSite& site, Device& device); \
  template absl::Status RunElementwiseChain<T>(const KernelCall& call);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(uint8_t)

}  // namespace tensord
