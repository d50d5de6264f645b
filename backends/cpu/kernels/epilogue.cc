#include "backends/cpu/kernels/epilogue.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/cpu/kernels/byte_plan.h"

namespace tensord {
namespace {

// Input 0 of the expression is y; input i is the node's input own_input_count +
// i - 1.
template <typename T>
class Plan final : public EpiloguePlan {
 public:
  explicit Plan(const NodeSite& site)
      : first_input_(site.params.epilogue->own_input_count),
        expression_(site.params.epilogue->expression, InputsOf(site),
                    site.output(0).shape) {}

  int64_t grain() const override { return expression_.grain(); }

  uint64_t footprint_bytes() const override {
    return sizeof(*this) + expression_.footprint_bytes();
  }

  void Apply(const KernelCall& call, int64_t begin,
             int64_t end) const override {
    T* y = call.output<T>(0);
    expression_.Evaluate(
        begin, end,
        [&](int i) -> const T* {
          return i == 0 ? y : call.input<T>(first_input_ + i - 1);
        },
        y);
  }

 private:
  static std::vector<Layout> InputsOf(const NodeSite& site) {
    const Epilogue& epilogue = *site.params.epilogue;
    std::vector<Layout> inputs = {site.output(0)};
    for (int i = 1; i < epilogue.expression.input_count; ++i) {
      inputs.push_back(site.input(epilogue.own_input_count + i - 1));
    }
    return inputs;
  }

  const int first_input_;
  const PlanOf<T> expression_;
};

}  // namespace

absl::Status AcceptsEpilogue(const NodeSite& site) {
  if (site.params.epilogue == nullptr) return absl::OkStatus();
  switch (site.output_dtype(0)) {
    case DType::kFloat32:
    case DType::kFloat64:
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kInt8:
    case DType::kUInt8:
      return CheckExpression(site.params.epilogue->expression);
    default:
      return absl::UnimplementedError(
          absl::StrCat("there are no element-wise steps for ",
                       DTypeName(site.output_dtype(0))));
  }
}

std::unique_ptr<const EpiloguePlan> MakeEpiloguePlan(const NodeSite& site) {
  if (site.params.epilogue == nullptr) return nullptr;
  switch (site.output_dtype(0)) {
    case DType::kFloat64:
      return std::make_unique<Plan<double>>(site);
    case DType::kFloat16:
      return std::make_unique<Plan<Float16>>(site);
    case DType::kBFloat16:
      return std::make_unique<Plan<BFloat16>>(site);
    case DType::kInt8:
      return std::make_unique<Plan<int8_t>>(site);
    case DType::kUInt8:
      return std::make_unique<Plan<uint8_t>>(site);
    default:  // AcceptsEpilogue has seen it
      return std::make_unique<Plan<float>>(site);
  }
}

void ApplyEpilogue(const KernelCall& call, const EpiloguePlan& plan) {
  call.context.workers->ParallelFor(
      call.output_layout(0).shape.element_count(), plan.grain(),
      [&](int64_t begin, int64_t end) { plan.Apply(call, begin, end); });
}

double EpilogueFlops(const NodeSite& site) {
  if (site.params.epilogue == nullptr) return 0;
  // As long as so much of a product; the output is in a near cache.
  constexpr double kStepFlops = 6;
  return kStepFlops * ExpressionFlops(site.params.epilogue->expression) *
         static_cast<double>(site.output(0).shape.element_count());
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareWithEpilogue(
    const NodeSite& site, std::unique_ptr<KernelState> own) {
  if (site.params.epilogue == nullptr) return own;
  auto state = std::make_unique<EpilogueState>();
  state->own = std::move(own);
  state->plan = MakeEpiloguePlan(site);
  return state;
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareEpilogue(
    const NodeSite& site, Device&) {
  return PrepareWithEpilogue(site, nullptr);
}

}  // namespace tensord
