#ifndef TENSORD_BACKENDS_CPU_KERNELS_ROW_SUMS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_ROW_SUMS_H_

#include <cstdint>

namespace tensord {

// The sum of term(x[i]) over neighbouring elements, in float64, so that even a
// long row keeps the elements' precision. term takes and returns a double.
template <typename T, typename Term>
double SumOf(const T* x, int64_t count, Term term) {
  // Sums side by side: they vectorise, and one chain of additions would run at
  // the latency of an addition.
  constexpr int kSums = 8;
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int lane = 0; lane < kSums; ++lane) {
      sums[lane] += term(static_cast<double>(x[i + lane]));
    }
  }
  for (; i < count; ++i) sums[i % kSums] += term(static_cast<double>(x[i]));
  for (int half = kSums / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
  }
  return sums[0];
}

struct Moments {
  double mean;
  double variance;  // of the population
};

// Of no element at all both are NaN. The mean is taken off before squaring: the
// difference of mean squares cancels where the mean is large.
template <typename T>
Moments MomentsOf(const T* x, int64_t count) {
  const auto n = static_cast<double>(count);
  const double mean = SumOf(x, count, [](double v) { return v; }) / n;
  const double squares = SumOf(x, count, [mean](double v) {
    const double centred = v - mean;
    return centred * centred;
  });
  return {mean, squares / n};
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_ROW_SUMS_H_
