#ifndef TENSORD_BACKENDS_CPU_KERNELS_RNN_ACTIVATION_H_
#define TENSORD_BACKENDS_CPU_KERNELS_RNN_ACTIVATION_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "backends/api/op_params.h"
#include "backends/cpu/kernels/step_functions.h"

// The activation functions of LSTM, GRU and RNN. A NaN stays one. Of float32,
// the two that nearly all layers have are approximated in vectors
// (vector_math.h says how well).
//
// Everything is in this header, so that a kernel's revision covers it.
namespace tensord {

// Whether values[i] = f(values[i]) was done in vectors.
inline bool ActivateInVectors(RnnFunction function, float* values,
                              int64_t count) {
  if (function != RnnFunction::kSigmoid && function != RnnFunction::kTanh) {
    return false;
  }
  const auto all = StepOperand<float>::Block(values);
  FindStepFunction<float>(function == RnnFunction::kTanh ? OpKind::kTanh
                                                         : OpKind::kSigmoid)(
      ExpressionStep(), all, all, count, values);
  return true;
}

// values[i] = f(values[i] brought to [-bound, bound]).
template <typename C>
void Activate(const RnnActivation& activation, C bound, C* values,
              int64_t count) {
  const C alpha = activation.alpha;
  const C beta = activation.beta;
  if constexpr (std::is_same_v<C, float>) {
    if (bound == std::numeric_limits<C>::infinity() &&
        ActivateInVectors(activation.function, values, count)) {
      return;
    }
  }
  const auto apply = [&](auto f) {
    for (int64_t i = 0; i < count; ++i) {
      values[i] = f(std::clamp(values[i], -bound, bound));
    }
  };
  switch (activation.function) {
    case RnnFunction::kAffine:
      return apply([=](C x) { return alpha * x + beta; });
    case RnnFunction::kElu:
      return apply([=](C x) { return x >= 0 ? x : alpha * std::expm1(x); });
    case RnnFunction::kHardSigmoid:
      return apply([=](C x) { return std::clamp<C>(alpha * x + beta, 0, 1); });
    case RnnFunction::kLeakyRelu:
      return apply([=](C x) { return x >= 0 ? x : alpha * x; });
    case RnnFunction::kRelu:
      return apply([](C x) { return x < 0 ? C{0} : x; });
    case RnnFunction::kScaledTanh:
      return apply([=](C x) { return alpha * std::tanh(beta * x); });
    case RnnFunction::kSigmoid:
      return apply([](C x) { return 1 / (1 + std::exp(-x)); });
    case RnnFunction::kSoftplus:
      // log(1 + e^x), whose exponential would overflow for a large x.
      return apply([](C x) {
        return (x < 0 ? C{0} : x) + std::log1p(std::exp(-std::abs(x)));
      });
    case RnnFunction::kSoftsign:
      return apply([](C x) { return x / (1 + std::abs(x)); });
    case RnnFunction::kTanh:
      return apply([](C x) { return std::tanh(x); });
    case RnnFunction::kThresholdedRelu:
      return apply([=](C x) { return x < alpha ? C{0} : x; });
  }
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_RNN_ACTIVATION_H_
