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
// Computes in the elements' own type; 16-bit floats in float32.
//
// A finite x gives a finite y wherever the formula's value is in range. A NaN
// stays a NaN, except that it is not above ThresholdedRelu's alpha. Where the
// formula multiplies an infinity by 0 or divides two, y is NaN, as elsewhere:
// Gelu, HardSwish, Mish, Softsign and Swish do so at infinities.

#include <cmath>
#include <cstdint>

#include "backends/cpu/kernels/element_map.h"
#include "backends/cpu/kernels/instantiate.h"

namespace tensord {
namespace {

// Neither branch's exp() overflows.
template <typename T>
T Logistic(T x) {
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

// Comparisons with a NaN are false, so that it passes.
template <typename T>
T HeldBetween0And1(T x) {
  return x < 0 ? T{0} : x > 1 ? T{1} : x;
}

}  // namespace

template <typename T>
absl::Status RunCelu(const KernelCall& call) {
  const ComputeType<T> alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCostlyGrain, [alpha](auto x) {
    return x >= 0 ? x : alpha * std::expm1(x / alpha);
  });
}

template <typename T>
absl::Status RunElu(const KernelCall& call) {
  const ComputeType<T> alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCostlyGrain, [alpha](auto x) {
    return x >= 0 ? x : alpha * std::expm1(x);
  });
}

// erfc() keeps the digits that 1 + erf() would cancel where x is negative; the
// approximation's (1 + tanh(u)) / 2 is the logistic function of 2 * u.
template <typename T>
absl::Status RunGelu(const KernelCall& call) {
  using Number = ComputeType<T>;
  if (std::get<GeluParams>(call.params).approximates_by_tanh) {
    constexpr Number kSqrt8OverPi = 1.59576912160573071176;
    constexpr Number kCubic = 0.044715;
    return MapElements<T>(call, kCostlyGrain, [](Number x) {
      return x * Logistic(kSqrt8OverPi * (x + kCubic * x * x * x));
    });
  }
  constexpr Number kSqrtHalf = 0.70710678118654752440;
  return MapElements<T>(call, kCostlyGrain, [](Number x) {
    return x * (Number{0.5} * std::erfc(-x * kSqrtHalf));
  });
}

template <typename T>
absl::Status RunHardSigmoid(const KernelCall& call) {
  using Number = ComputeType<T>;
  const auto& params = std::get<HardSigmoidParams>(call.params);
  const Number alpha = params.alpha;
  const Number beta = params.beta;
  return MapElements<T>(call, kCheapGrain, [alpha, beta](Number x) {
    return HeldBetween0And1(alpha * x + beta);
  });
}

template <typename T>
absl::Status RunHardSwish(const KernelCall& call) {
  using Number = ComputeType<T>;
  return MapElements<T>(call, kCheapGrain, [](Number x) {
    return x * HeldBetween0And1(x / 6 + Number{0.5});
  });
}

template <typename T>
absl::Status RunLeakyRelu(const KernelCall& call) {
  const ComputeType<T> alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCheapGrain,
                        [alpha](auto x) { return x < 0 ? alpha * x : x; });
}

// tanh(ln(1 + e^x)) is n / (n + 2) with n = e^x * (e^x + 2); for x > 0 both are
// multiplied by e^-2x, which leaves powers that cannot overflow.
template <typename T>
absl::Status RunMish(const KernelCall& call) {
  using Number = ComputeType<T>;
  return MapElements<T>(call, kCostlyGrain, [](Number x) {
    const Number e = std::exp(-std::abs(x));
    const Number n = x > 0 ? 1 + 2 * e : e * (e + 2);
    return x * (n / (n + (x > 0 ? 2 * e * e : 2)));
  });
}

template <typename T>
absl::Status RunRelu(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain,
                        [](auto x) { return x < 0 ? decltype(x){0} : x; });
}

template <typename T>
absl::Status RunSelu(const KernelCall& call) {
  using Number = ComputeType<T>;
  const auto& params = std::get<SeluParams>(call.params);
  const Number alpha = params.alpha;
  const Number gamma = params.gamma;
  return MapElements<T>(call, kCostlyGrain, [alpha, gamma](Number x) {
    return gamma * (x > 0 ? x : alpha * std::expm1(x));
  });
}

template <typename T>
absl::Status RunSigmoid(const KernelCall& call) {
  return MapElements<T>(call, kCostlyGrain, [](auto x) { return Logistic(x); });
}

template <typename T>
absl::Status RunSoftplus(const KernelCall& call) {
  using Number = ComputeType<T>;
  return MapElements<T>(call, kCostlyGrain, [](Number x) {
    return (x > 0 ? x : 0) + std::log1p(std::exp(-std::abs(x)));
  });
}

template <typename T>
absl::Status RunSoftsign(const KernelCall& call) {
  return MapElements<T>(call, kCheapGrain,
                        [](auto x) { return x / (1 + std::abs(x)); });
}

template <typename T>
absl::Status RunSwish(const KernelCall& call) {
  const ComputeType<T> alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCostlyGrain,
                        [alpha](auto x) { return x * Logistic(alpha * x); });
}

template <typename T>
absl::Status RunThresholdedRelu(const KernelCall& call) {
  using Number = ComputeType<T>;
  const Number alpha = std::get<AlphaParams>(call.params).alpha;
  return MapElements<T>(call, kCheapGrain, [alpha](Number x) {
    return x > alpha ? x : Number{0};
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
