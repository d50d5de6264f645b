#ifndef TENSORD_BACKENDS_CPU_KERNELS_EINSUM_GATHER_H_
#define TENSORD_BACKENDS_CPU_KERNELS_EINSUM_GATHER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>

#include "absl/types/span.h"
#include "backends/api/einsum_plan.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {

// One of Einsum's operands as a dense tensor of chosen labels, in their order:
// permuted, its diagonal taken where a label repeats, repeated where it
// broadcasts, and summed over the labels that were not chosen. Sums are
// float64, and modulo 2^64 for integers.
//
// Threading: immutable once made. Ownership: a plain value.
class EinsumGather {
 public:
  // Of a dense operand with these labels and extents; an extent of 1 repeats.
  EinsumGather(const EinsumPlan& plan, const EinsumLabels& from,
               absl::Span<const int64_t> extents, const EinsumLabels& to)
      : EinsumGather(Strides(plan, from, extents, to)) {}

  // Elements that come out.
  int64_t count() const { return count_; }
  // Whether the operand is that tensor already.
  bool is_identity() const {
    return summed_count_ == 1 && kept_.rank == 1 &&
           (kept_.strides[0][0] == 1 || kept_.extents[0] == 1);
  }

  template <typename From, typename To>
  void Run(WorkerPool& workers, const From* from, To* to) const {
    constexpr int64_t kGrainElements = 8 * 1024;
    const int64_t step = kept_.strides[0][kept_.rank - 1];
    workers.ParallelFor(
        count_, kGrainElements / std::max<int64_t>(summed_count_, 1) + 1,
        [&](int64_t begin, int64_t end) {
          kept_.ForRange(begin, end,
                         [&](int64_t at, const std::array<int64_t, 1>& offsets,
                             int64_t length) {
                           const From* x = from + offsets[0];
                           for (int64_t i = 0; i < length; ++i) {
                             to[at + i] = ElementAt<To>(x + i * step);
                           }
                         });
        });
  }

 private:
  struct Strides {
    std::array<int64_t, kEinsumLabelCount> strides{};
    Dims kept_extents;
    Dims kept_strides;
    Dims summed_extents;
    Dims summed_strides;

    Strides(const EinsumPlan& plan, const EinsumLabels& from,
            absl::Span<const int64_t> extents, const EinsumLabels& to) {
      int64_t stride = 1;
      for (size_t d = from.size(); d-- > 0;) {
        if (extents[d] != 1) strides[from[d]] += stride;
        stride *= extents[d];
      }
      for (EinsumLabel label : to) {
        kept_extents.push_back(plan.extents[label]);
        kept_strides.push_back(strides[label]);
      }
      EinsumLabels summed;
      for (size_t d = 0; d < from.size(); ++d) {
        if (HasLabel(to, from[d]) || HasLabel(summed, from[d])) continue;
        summed.push_back(from[d]);
        summed_extents.push_back(extents[d]);
        summed_strides.push_back(strides[from[d]]);
      }
    }
  };

  explicit EinsumGather(const Strides& s)
      : kept_(Shape::Create(s.kept_extents).value(),
              [&s](int, int d) { return s.kept_strides[d]; }),
        summed_(Shape::Create(s.summed_extents).value(),
                [&s](int, int d) { return s.summed_strides[d]; }) {
    for (int64_t extent : s.kept_extents) count_ *= extent;
    for (int64_t extent : s.summed_extents) summed_count_ *= extent;
  }

  template <typename To, typename From>
  To ElementAt(const From* x) const {
    if (summed_count_ == 1) return static_cast<To>(*x);
    using Sum = std::conditional_t<kIsFloat<From>, double, uint64_t>;
    Sum sum = 0;
    if (summed_count_ != 0) {
      const int64_t step = summed_.strides[0][summed_.rank - 1];
      summed_.ForRange(
          0, summed_count_,
          [&](int64_t, const std::array<int64_t, 1>& offsets, int64_t length) {
            const From* run = x + offsets[0];
            for (int64_t i = 0; i < length; ++i) {
              sum += static_cast<Sum>(run[i * step]);
            }
          });
    }
    return static_cast<To>(sum);
  }

  StridedWalk<1> kept_;
  StridedWalk<1> summed_;
  int64_t count_ = 1;
  int64_t summed_count_ = 1;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_EINSUM_GATHER_H_
