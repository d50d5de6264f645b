// Activation functions, each element by itself.
//
//   Celu             x where x >= 0, alpha * (e^(x / alpha) - 1) else
//   Elu              x where x >= 0, alpha * (e^x - 1) else
//   Gelu             x * P(N(0, 1) < x), or its approximation by tanh
//   HardSigmoid      alpha * x + beta, held between 0 and 1
//   HardSwish        x * (x / 6 + 1/2 held between 0 and 1)
//   LeakyRelu        x where x >= 0, alpha * x else
//   Mish             x * tanh(ln(1 + e^x))
//   Relu             max(x, 0)
//   Selu             gamma * (x where x > 0, alpha * (e^x - 1) else)
//   Sigmoid          1 / (1 + e^-x)
//   Softplus         ln(1 + e^x)
//   Softsign         x / (1 + |x|)
//   Swish            x * Sigmoid(alpha * x)
//   ThresholdedRelu  x where x > alpha, 0 else
//
// x and y are contiguous, have the same shape, and may be the same buffer.
// Computes in the elements' own type; 16-bit floats in float32. What becomes of
// NaNs and infinities is said in element_functions.h.

#include "backends/cpu/kernels/element_functions.h"
#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {

template <typename T>
absl::Status RunCelu(const KernelCall& call) {
  using Number = ComputeType<T>;
  const Number alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCostlyGrain,
                        [alpha](Number x) { return Celu(x, alpha); });
}

template <typename T>
absl::Status RunElu(const KernelCall& call) {
  using Number = ComputeType<T>;
  const Number alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCostlyGrain,
                        [alpha](Number x) { return Elu(x, alpha); });
}

template <typename T>
absl::Status RunGelu(const KernelCall& call) {
  if (std::get<GeluParams>(call.params).approximates_by_tanh) {
    return MapElements<T>(call, kCostlyGrain,
                          [](auto x) { return GeluByTanh(x); });
  }
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return Gelu(x); });
}

template <typename T>
absl::Status RunHardSigmoid(const KernelCall& call) {
  using Number = ComputeType<T>;
  const auto& params = std::get<HardSigmoidParams>(call.params);
  const Number alpha = params.alpha;
  const Number beta = params.beta;
  return MapElements<T>(call, kCheapGrain, [alpha, beta](Number x) {
    return HardSigmoid(x, alpha, beta);
  });
}

template <typename T>
absl::Status RunHardSwish(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return HardSwish(x); });
}

template <typename T>
absl::Status RunLeakyRelu(const KernelCall& call) {
  using Number = ComputeType<T>;
  const Number alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCheapGrain,
                        [alpha](Number x) { return LeakyRelu(x, alpha); });
}

template <typename T>
absl::Status RunMish(const KernelCall& call) {
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return Mish(x); });
}

template <typename T>
absl::Status RunRelu(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return Relu(x); });
}

template <typename T>
absl::Status RunSelu(const KernelCall& call) {
  using Number = ComputeType<T>;
  const auto& params = std::get<SeluParams>(call.params);
  const Number alpha = params.alpha;
  const Number gamma = params.gamma;
  return MapElements<T>(call, kCostlyGrain, [alpha, gamma](Number x) {
    return Selu(x, alpha, gamma);
  });
}

template <typename T>
absl::Status RunSigmoid(const KernelCall& call) {
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return Logistic(x); });
}

template <typename T>
absl::Status RunSoftplus(const KernelCall& call) {
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return Softplus(x); });
}

template <typename T>
absl::Status RunSoftsign(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain, [](auto x) { return Softsign(x); });
}

template <typename T>
absl::Status RunSwish(const KernelCall& call) {
  using Number = ComputeType<T>;
  const Number alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCostlyGrain,
                        [alpha](Number x) { return Swish(x, alpha); });
}

template <typename T>
absl::Status RunThresholdedRelu(const KernelCall& call) {
  using Number = ComputeType<T>;
  const Number alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCheapGrain, [alpha](Number x) {
    return ThresholdedRelu(x, alpha);
  });
}

TENSORD_INSTANTIATE_FLOATS(RunCelu);
TENSORD_INSTANTIATE_FLOATS(RunElu);
TENSORD_INSTANTIATE_FLOATS(RunGelu);
TENSORD_INSTANTIATE_FLOATS(RunHardSigmoid);
TENSORD_INSTANTIATE_FLOATS(RunHardSwish);
TENSORD_INSTANTIATE_FLOATS(RunLeakyRelu);
TENSORD_INSTANTIATE_FLOATS(RunMish);
TENSORD_INSTANTIATE_SIGNED(RunRelu);
TENSORD_INSTANTIATE_FLOATS(RunSelu);
TENSORD_INSTANTIATE_FLOATS(RunSigmoid);
TENSORD_INSTANTIATE_FLOATS(RunSoftplus);
TENSORD_INSTANTIATE_FLOATS(RunSoftsign);
TENSORD_INSTANTIATE_FLOATS(RunSwish);
TENSORD_INSTANTIATE_FLOATS(RunThresholdedRelu);

}  // namespace tensord
