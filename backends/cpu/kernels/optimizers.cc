// Adagrad, Adam, Momentum: one step of an optimizer, at learning rate r and
// step t. With g' = norm * x + g for each element of each tensor x:
//
//   Adagrad   h' = h + g' * g'
//             x' = x - r / (1 + t * decay) * g' / (sqrt(h') + epsilon)
//   Adam      v' = alpha * v + (1 - alpha) * g'
//             h' = beta * h + (1 - beta) * g' * g'
//             q = r * sqrt(1 - beta^t) / (1 - alpha^t), r at step 0
//             x' = (1 - norm_post) * (x - q * v' / (sqrt(h') + epsilon))
//   Momentum  v' = alpha * v + (beta, 1 at step 0) * g'
//             x' = x - r * v', or x - r * (g' + alpha * v') (Nesterov)
//
// Inputs are r and t (one element each), then all x, all g, and all v, all h as
// there are; outputs all x', all v', all h', any of which may be absent. The
// operands of one tensor are contiguous and have one shape; no output is an
// input's buffer. Computes in the elements' own type, what r and t come to in
// float64.

#include <array>
#include <cmath>
#include <cstdint>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

constexpr int kFirstTensor = 2;
constexpr int64_t kGrainElements = 16 * 1024;

// What a step makes of one element: the tensor's own, then the states'.
template <typename T, int kStates>
using Element = std::array<T, 1 + kStates>;

// Puts step(element, gradient) in the place of each element.
template <typename T, int kStates, typename Step>
absl::Status StepTensors(const KernelCall& call, Step step) {
  const int tensors =
      static_cast<int>(call.inputs.size() - kFirstTensor) / (2 + kStates);
  for (int i = 0; i < tensors; ++i) {
    const int first = kFirstTensor + i;
    std::array<const T*, 1 + kStates> from;
    std::array<T*, 1 + kStates> to;
    for (int s = 0; s <= kStates; ++s) {
      // The gradients stand behind the tensors, before the states.
      from[s] = call.input<T>(first + (s == 0 ? 0 : s + 1) * tensors);
      const int output = s * tensors + i;
      const bool is_wanted = output < static_cast<int>(call.outputs.size()) &&
                             call.outputs[output].is_present();
      to[s] = is_wanted ? call.output<T>(output) : nullptr;
    }
    const T* gradients = call.input<T>(first + tensors);
    call.context.workers->ParallelFor(
        call.input_layout(first).shape.element_count(), kGrainElements,
        [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k) {
            Element<T, kStates> element;
            for (int s = 0; s <= kStates; ++s) element[s] = from[s][k];
            step(element, gradients[k]);
            for (int s = 0; s <= kStates; ++s) {
              if (to[s] != nullptr) to[s][k] = element[s];
            }
          }
        });
  }
  return absl::OkStatus();
}

template <typename Rate>
double RateOf(const KernelCall& call) {
  return *call.input<Rate>(0);
}
double StepOf(const KernelCall& call) {
  return static_cast<double>(*call.input<int64_t>(1));
}

}  // namespace

template <typename T, typename Rate>
absl::Status RunAdagrad(const KernelCall& call) {
  const auto& params = std::get<OptimizerParams>(call.params);
  const T norm = params.norm_coefficient;
  const T epsilon = params.epsilon;
  const T rate = static_cast<T>(RateOf<Rate>(call) /
                                (1 + StepOf(call) * params.decay_factor));
  return StepTensors<T, 1>(call, [=](Element<T, 1>& element, T gradient) {
    auto& [x, h] = element;
    const T g = norm * x + gradient;
    h += g * g;
    x -= rate * g / (std::sqrt(h) + epsilon);
  });
}

template <typename T, typename Rate>
absl::Status RunAdam(const KernelCall& call) {
  const auto& params = std::get<OptimizerParams>(call.params);
  const T alpha = params.alpha;
  const T beta = params.beta;
  const T norm = params.norm_coefficient;
  const T norm_post = params.norm_coefficient_post;
  const T epsilon = params.epsilon;
  const double step = StepOf(call);
  double adjusted = RateOf<Rate>(call);
  if (step > 0) {
    adjusted *= std::sqrt(1 - std::pow(double{params.beta}, step)) /
                (1 - std::pow(double{params.alpha}, step));
  }
  const T rate = static_cast<T>(adjusted);
  return StepTensors<T, 2>(call, [=](Element<T, 2>& element, T gradient) {
    auto& [x, v, h] = element;
    const T g = norm * x + gradient;
    v = alpha * v + (1 - alpha) * g;
    h = beta * h + (1 - beta) * g * g;
    x = (1 - norm_post) * (x - rate * v / (std::sqrt(h) + epsilon));
  });
}

template <typename T, typename Rate>
absl::Status RunMomentum(const KernelCall& call) {
  const auto& params = std::get<OptimizerParams>(call.params);
  const T alpha = params.alpha;
  const T beta = StepOf(call) > 0 ? params.beta : 1;
  const T norm = params.norm_coefficient;
  const T rate = static_cast<T>(RateOf<Rate>(call));
  const bool is_nesterov = params.is_nesterov;
  return StepTensors<T, 1>(call, [=](Element<T, 1>& element, T gradient) {
    auto& [x, v] = element;
    const T g = norm * x + gradient;
    v = alpha * v + beta * g;
    x -= rate * (is_nesterov ? g + alpha * v : v);
  });
}

#define TENSORD_INSTANTIATE(T, Rate)                            \
  template absl::Status RunAdagrad<T, Rate>(const KernelCall&); \
  template absl::Status RunAdam<T, Rate>(const KernelCall&);    \
  template absl::Status RunMomentum<T, Rate>(const KernelCall&)

TENSORD_INSTANTIATE(float, float);
TENSORD_INSTANTIATE(float, double);
TENSORD_INSTANTIATE(double, float);
TENSORD_INSTANTIATE(double, double);

}  // namespace tensord
