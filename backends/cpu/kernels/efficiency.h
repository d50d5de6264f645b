#ifndef TENSORD_BACKENDS_CPU_KERNELS_EFFICIENCY_H_
#define TENSORD_BACKENDS_CPU_KERNELS_EFFICIENCY_H_

namespace tensord {

// For KernelCost::efficiency: the share that kernels attain of the rate of a
// large float32 product, which is what DeviceInfo::flops_per_ns stands for. It
// was 256 operations a nanosecond on one core with AVX-512 (Zen 4), where these
// and the shares in the kernels' own files were measured
// (scripts/estimate_check.py --kernels).

// A portable kernel whose arithmetic the compiler has put into vectors.
inline constexpr double kPortableEfficiency = 0.16;

// The same of products of so many rows: with few, each weight is read for
// little arithmetic.
constexpr double ProductEfficiency(double rows) {
  constexpr double kPerRow = 0.04;
  return rows * kPerRow < kPortableEfficiency && rows > 0 ? rows * kPerRow
                                                          : kPortableEfficiency;
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_EFFICIENCY_H_
