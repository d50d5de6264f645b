// Operators that map each element by itself.
//
//   y[i] = f(x[i])
//
// x and y are contiguous, have the same shape, and may be the same buffer.
// Computes in the elements' own type.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"

namespace tensord {
namespace {

// Elements that are worth handing to another thread: some 20 us of work.
constexpr int64_t kCheapGrain = 32 * 1024;
constexpr int64_t kCostlyGrain = 4 * 1024;

template <typename T, typename Function>
absl::Status Map(const KernelCall& call, int64_t grain, Function f) {
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  call.context.workers->ParallelFor(call.output_layout(0).shape.element_count(),
                                    grain, [=](int64_t begin, int64_t end) {
                                      for (int64_t i = begin; i < end; ++i)
                                        y[i] = f(x[i]);
                                    });
  return absl::OkStatus();
}

// -x and |x| of the least integer are that integer: they wrap, as in numpy.
template <typename T>
T Negate(T x) {
  if constexpr (std::is_integral_v<T>) {
    using Unsigned = std::make_unsigned_t<T>;
    return static_cast<T>(Unsigned{0} - static_cast<Unsigned>(x));
  } else {
    return -x;
  }
}

// Neither branch's exp() overflows.
template <typename T>
T Logistic(T x) {
  const T e = std::exp(-std::abs(x));
  return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

}  // namespace

template <typename T>
absl::Status RunAbs(const KernelCall& call) {
  return Map<T>(call, kCheapGrain, [](T x) {
    if constexpr (std::is_floating_point_v<T>) return std::abs(x);
    if constexpr (std::is_unsigned_v<T>) return x;
    return x < 0 ? Negate(x) : x;
  });
}

template <typename T>
absl::Status RunExp(const KernelCall& call) {
  return Map<T>(call, kCostlyGrain, [](T x) { return std::exp(x); });
}

template <typename T>
absl::Status RunLeakyRelu(const KernelCall& call) {
  const T alpha = std::get<AlphaParams>(call.params).alpha;
  return Map<T>(call, kCheapGrain,
                [alpha](T x) { return x < 0 ? alpha * x : x; });
}

template <typename T>
absl::Status RunNeg(const KernelCall& call) {
  return Map<T>(call, kCheapGrain, [](T x) { return Negate(x); });
}

// A NaN stays a NaN.
template <typename T>
absl::Status RunRelu(const KernelCall& call) {
  return Map<T>(call, kCheapGrain, [](T x) { return x < 0 ? T{0} : x; });
}

template <typename T>
absl::Status RunSigmoid(const KernelCall& call) {
  return Map<T>(call, kCostlyGrain, [](T x) { return Logistic(x); });
}

template <typename T>
absl::Status RunSqrt(const KernelCall& call) {
  return Map<T>(call, kCheapGrain, [](T x) { return std::sqrt(x); });
}

template <typename T>
absl::Status RunTanh(const KernelCall& call) {
  return Map<T>(call, kCostlyGrain, [](T x) { return std::tanh(x); });
}

#define TENSORD_INSTANTIATE_FLOAT(T)                        \
  template absl::Status RunAbs<T>(const KernelCall&);       \
  template absl::Status RunExp<T>(const KernelCall&);       \
  template absl::Status RunLeakyRelu<T>(const KernelCall&); \
  template absl::Status RunNeg<T>(const KernelCall&);       \
  template absl::Status RunRelu<T>(const KernelCall&);      \
  template absl::Status RunSigmoid<T>(const KernelCall&);   \
  template absl::Status RunSqrt<T>(const KernelCall&);      \
  template absl::Status RunTanh<T>(const KernelCall&);
#define TENSORD_INSTANTIATE_SIGNED(T)                 \
  template absl::Status RunAbs<T>(const KernelCall&); \
  template absl::Status RunNeg<T>(const KernelCall&); \
  template absl::Status RunRelu<T>(const KernelCall&);
#define TENSORD_INSTANTIATE_UNSIGNED(T) \
  template absl::Status RunAbs<T>(const KernelCall&);

TENSORD_INSTANTIATE_FLOAT(float)
TENSORD_INSTANTIATE_FLOAT(double)
TENSORD_INSTANTIATE_SIGNED(int8_t)
TENSORD_INSTANTIATE_SIGNED(int16_t)
TENSORD_INSTANTIATE_SIGNED(int32_t)
TENSORD_INSTANTIATE_SIGNED(int64_t)
TENSORD_INSTANTIATE_UNSIGNED(uint8_t)
TENSORD_INSTANTIATE_UNSIGNED(uint16_t)
TENSORD_INSTANTIATE_UNSIGNED(uint32_t)
TENSORD_INSTANTIATE_UNSIGNED(uint64_t)

}  // namespace tensord
