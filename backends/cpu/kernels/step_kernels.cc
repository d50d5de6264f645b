// Element-wise operators of float32 as chains of one step.
//
//   y[i] = f(x0[i], x1[i]), broadcast to y's shape
//
// with f the step function of the operator (step_functions.h), which is in this
// machine's vectors and, for exp() and its like, an approximation
// (vector_math.h). Everything is contiguous. y may be the buffer of an input of
// its own size: a block is read before it is written.

#include <memory>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/expression_plan.h"

namespace tensord {
namespace {

ExpressionStep StepOf(const NodeSite& site) {
  ExpressionStep step{
      .op = site.op,
      .operands = {0, site.input_count > 1 ? 1 : ExpressionStep::kNoOperand}};
  if (const auto* params = std::get_if<AlphaParams>(&site.params)) {
    step.parameters[0] = params->alpha;
  } else if (const auto* params =
                 std::get_if<HardSigmoidParams>(&site.params)) {
    step.parameters = {params->alpha, params->beta};
  } else if (const auto* params = std::get_if<GeluParams>(&site.params)) {
    step.parameters[0] = params->approximates_by_tanh ? 1 : 0;
  }
  return step;
}

class StepState final : public KernelState {
 public:
  explicit StepState(const NodeSite& site)
      : plan({.input_count = site.input_count, .steps = {StepOf(site)}},
             site.layouts.first(site.input_count), site.output(0).shape) {}
  uint64_t footprint_bytes() const override { return plan.footprint_bytes(); }

  const ExpressionPlan<float> plan;
};

}  // namespace

absl::StatusOr<std::unique_ptr<KernelState>> PrepareStep(const NodeSite& site,
                                                         Device&) {
  return std::make_unique<StepState>(site);
}

absl::Status RunStep(const KernelCall& call) {
  const auto& plan = static_cast<const StepState&>(*call.state).plan;
  float* y = call.output<float>(0);
  call.context.workers->ParallelFor(
      call.output_layout(0).shape.element_count(), plan.grain(),
      [&](int64_t begin, int64_t end) {
        plan.Evaluate(
            begin, end, [&](int i) { return call.input<float>(i); }, y);
      });
  return absl::OkStatus();
}

}  // namespace tensord
