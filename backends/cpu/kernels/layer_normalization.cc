// LayerNormalization and RMSNormalization over the dimensions from the axis on.
//
//   LayerNormalization:  y = (x - mean) / sqrt(variance + epsilon) * scale + b
//   RMSNormalization:    y = x / sqrt(mean of x^2 + epsilon) * scale
//
// With has_skip, LayerNormalization's x is the sum of inputs 0 and 3, which
// have one shape; it is made in y, rounded to its dtype.
//
// x and y are contiguous, seen as [rows, columns], and may be the same buffer
// where they have the same dtype; scale and b broadcast to y, and b may be
// absent. LayerNormalization's further outputs are a row's mean and
// 1 / sqrt(variance + epsilon). Statistics accumulate in float64, and a value
// is normalised in it, so that a large mean costs no precision; scale and b
// come in as float32 (float64 for float64), and the result is rounded once.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/row_sums.h"
#include "backends/cpu/kernels/strided_walk.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 8 * 1024;

struct Rows {
  int64_t count;
  int64_t columns;

  Rows(const Shape& shape, int64_t axis) {
    const int rank = shape.rank();
    const int d = static_cast<int>(axis < 0 ? axis + rank : axis);
    count = shape.ElementCount(0, d);
    columns = shape.ElementCount(d, rank);
  }
  int64_t grain() const {
    return kGrainElements / std::max<int64_t>(columns, 1) + 1;
  }
};

// y = normalised * scale + bias for the rows of y, which bring their mean and
// what they are multiplied by.
template <typename T, typename V>
class Scaling {
 public:
  Scaling(const KernelCall& call, const T* x, bool has_bias)
      : x_(x),
        scale_(call.input<V>(1)),
        bias_(has_bias ? call.input<V>(2) : &zero_),
        y_(call.outputs[0].is_present() ? call.output<V>(0) : nullptr),
        walk_(call.input_layout(0).shape, [&](int i, int d) -> int64_t {
          if (i == 1 && !has_bias) return 0;
          return BroadcastStride(call.input_layout(i + 1),
                                 call.input_layout(0).shape, d);
        }) {}
  Scaling(const Scaling&) = delete;
  Scaling& operator=(const Scaling&) = delete;

  // The elements [begin, end), which are of one row.
  void Apply(int64_t begin, int64_t end, double mean, double factor) const {
    if (begin == end || y_ == nullptr) return;
    const int64_t scale_step = walk_.strides[0][walk_.rank - 1];
    const int64_t bias_step = walk_.strides[1][walk_.rank - 1];
    walk_.ForRange(
        begin, end,
        [&](int64_t at, const std::array<int64_t, 2>& offsets, int64_t length) {
          const V* scale = scale_ + offsets[0];
          const V* bias = bias_ + offsets[1];
          // The usual shapes, so that they vectorise.
          if (scale_step == 1 && bias_step == 1) {
            ApplyRun(at, length, mean, factor, scale, 1, bias, 1);
          } else if (scale_step == 1) {
            ApplyRun(at, length, mean, factor, scale, 1, bias, 0);
          } else {
            ApplyRun(at, length, mean, factor, scale, scale_step, bias,
                     bias_step);
          }
        });
  }

 private:
  using Compute =
      std::conditional_t<std::is_same_v<T, double> || std::is_same_v<V, double>,
                         double, float>;

  void ApplyRun(int64_t at, int64_t length, double mean, double factor,
                const V* scale, int64_t scale_step, const V* bias,
                int64_t bias_step) const {
    const T* x = x_ + at;
    V* y = y_ + at;
    for (int64_t i = 0; i < length; ++i) {
      const auto normalised =
          static_cast<Compute>((static_cast<double>(x[i]) - mean) * factor);
      y[i] = static_cast<V>(normalised *
                                static_cast<Compute>(scale[i * scale_step]) +
                            static_cast<Compute>(bias[i * bias_step]));
    }
  }

  const V zero_ = V(0);
  const T* const x_;
  const V* const scale_;
  const V* const bias_;
  V* const y_;
  const StridedWalk<2> walk_;
};

template <typename T>
void AddRow(const T* a, const T* b, int64_t columns, T* sum) {
  using Compute = ComputeType<T>;
  for (int64_t i = 0; i < columns; ++i) {
    sum[i] = static_cast<Compute>(a[i]) + static_cast<Compute>(b[i]);
  }
}

template <typename U>
U* OptionalOutput(const KernelCall& call, size_t i) {
  const bool is_present =
      i < call.outputs.size() && call.outputs[i].is_present();
  return is_present ? call.output<U>(static_cast<int>(i)) : nullptr;
}

}  // namespace

KernelCost LayerNormalizationCost(const NodeSite& site) {
  const double elements = site.input(0).shape.element_count();
  return {.flops = 8 * elements,
          .bytes = 2.0 * ByteSize(site.input_dtype(0), 1) * elements,
          .efficiency = 0.035};
}

template <typename T, typename U>
absl::Status RunLayerNormalization(const KernelCall& call) {
  const auto& params = std::get<NormalizationParams>(call.params);
  const Rows rows(call.input_layout(0).shape, params.axis);
  const T* skip = params.has_skip ? call.input<T>(3) : nullptr;
  T* sum = params.has_skip ? call.output<T>(0) : nullptr;
  const T* x = params.has_skip ? sum : call.input<T>(0);
  U* means = OptionalOutput<U>(call, 1);
  U* inverses = OptionalOutput<U>(call, 2);
  const Scaling<T, T> scaling(call, x, call.has_input(2));
  call.context.workers->ParallelFor(
      rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t at = row * rows.columns;
          if (params.has_skip) {
            AddRow(call.input<T>(0) + at, skip + at, rows.columns, sum + at);
          }
          const Moments moments = MomentsOf(x + at, rows.columns);
          const double inverse =
              1 / std::sqrt(moments.variance + params.epsilon);
          if (means != nullptr) means[row] = static_cast<U>(moments.mean);
          if (inverses != nullptr) inverses[row] = static_cast<U>(inverse);
          scaling.Apply(at, at + rows.columns, moments.mean, inverse);
        }
      });
  return absl::OkStatus();
}

template <typename T, typename V>
absl::Status RunRMSNormalization(const KernelCall& call) {
  const auto& params = std::get<NormalizationParams>(call.params);
  const Rows rows(call.input_layout(0).shape, params.axis);
  const T* x = call.input<T>(0);
  const Scaling<T, V> scaling(call, x, /*has_bias=*/false);
  call.context.workers->ParallelFor(
      rows.count, rows.grain(), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t at = row * rows.columns;
          const double squares =
              SumOf(x + at, rows.columns, [](double v) { return v * v; });
          const double mean = squares / static_cast<double>(rows.columns);
          scaling.Apply(at, at + rows.columns, 0,
                        1 / std::sqrt(mean + params.epsilon));
        }
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                                 \
  template absl::Status RunLayerNormalization<T, float>(const KernelCall&);    \
  template absl::Status RunLayerNormalization<T, BFloat16>(const KernelCall&); \
  template absl::Status RunRMSNormalization<T, float>(const KernelCall&);      \
  template absl::Status RunRMSNormalization<T, double>(const KernelCall&);     \
  template absl::Status RunRMSNormalization<T, Float16>(const KernelCall&);    \
  template absl::Status RunRMSNormalization<T, BFloat16>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
