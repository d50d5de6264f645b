// Resize and Upsample.
//
//   y[i0, i1, ...] = sum over taps k0, k1, ... of
//                    w0[i0, k0] * w1[i1, k1] * ... * x[j0[i0, k0], ...]
//
// where each dimension's indices j and weights w are made ahead of the run (see
// resize_axis.h) from the coordinate mode and the kernel of the interpolation.
// The product is separable: one dimension after the other is resized, first
// those that shrink most, through two buffers in the workspace. x and y are
// contiguous and different buffers. Accumulates in float32 (float64 for
// float64); integers are rounded towards zero and saturated at the end.
//
// Nearest only copies elements, as bytes: one kernel for each element size. The
// scales, the sizes and the region must be known before the run.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/api/resize_plan.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/saturate.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;

class ResizeTables final : public KernelState {
 public:
  explicit ResizeTables(const NodeSite& site) : plan(site) {}

  uint64_t footprint_bytes() const override { return plan.footprint_bytes(); }

  const ResizePlan plan;
  uint64_t outside_bits = 0;  // the extrapolation value as an element
};

const ResizeParams& ParamsOf(const NodeSite& site) {
  return std::get<ResizeParams>(site.params);
}

// Elements of each of the two buffers: the most that is between two passes.
int64_t BufferElements(const Shape& x, const Shape& y) {
  if (x.element_count() == 0) return 0;
  int64_t elements = x.element_count();
  int64_t most = 0;
  for (int d : OrderOfPasses(x, y)) {
    elements = elements / x[d] * y[d];
    most = std::max(most, elements);
  }
  return most;
}

template <typename T>
uint64_t BitsOf(float value) {
  const T element = Saturate<T>(value);
  uint64_t bits = 0;
  std::memcpy(&bits, &element, sizeof(element));
  return bits;
}

uint64_t BitsOf(DType dtype, float value) {
  switch (dtype) {
    case DType::kFloat32:
      return BitsOf<float>(value);
    case DType::kFloat64:
      return BitsOf<double>(value);
    case DType::kFloat16:
      return BitsOf<Float16>(value);
    case DType::kBFloat16:
      return BitsOf<BFloat16>(value);
    case DType::kInt8:
      return BitsOf<int8_t>(value);
    case DType::kInt16:
      return BitsOf<int16_t>(value);
    case DType::kInt32:
      return BitsOf<int32_t>(value);
    case DType::kInt64:
      return BitsOf<int64_t>(value);
    case DType::kUInt8:
      return BitsOf<uint8_t>(value);
    case DType::kUInt16:
      return BitsOf<uint16_t>(value);
    case DType::kUInt32:
      return BitsOf<uint32_t>(value);
    case DType::kUInt64:
      return BitsOf<uint64_t>(value);
    default:
      return 0;
  }
}

// One pass: y[o, i, inner] = sum over k of weight[i, k] * x[o, index[i, k],
// inner], in blocks of neighbours.
template <typename Sum, typename From, typename To>
void ResizePass(WorkerPool& workers, const ResizeAxis& axis, int64_t outer,
                int64_t inner, const From* x, To* y) {
  constexpr int64_t kBlock = 64;
  const int64_t blocks = (inner + kBlock - 1) / kBlock;
  const int64_t grain =
      kGrainElements / (axis.taps * std::clamp<int64_t>(inner, 1, kBlock)) + 1;
  workers.ParallelFor(
      outer * axis.out * blocks, grain, [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          const int64_t first = task % blocks * kBlock;
          const int64_t width = std::min(kBlock, inner - first);
          const int64_t at = task / blocks % axis.out;
          const int64_t plane = task / blocks / axis.out;
          const From* from = x + plane * axis.in * inner + first;
          Sum sums[kBlock] = {};
          for (int64_t k = 0; k < axis.taps; ++k) {
            const Sum weight = axis.weights[at * axis.taps + k];
            if (weight == 0) continue;  // 0 times an infinity is a NaN
            const From* row = from + axis.indices[at * axis.taps + k] * inner;
            for (int64_t i = 0; i < width; ++i) {
              sums[i] += weight * static_cast<Sum>(row[i]);
            }
          }
          To* to = y + (plane * axis.out + at) * inner + first;
          for (int64_t i = 0; i < width; ++i) to[i] = Saturate<To>(sums[i]);
        }
      });
}

// Elements any of whose coordinates is outside take the extrapolation value.
template <typename Element>
void FillOutside(const ResizeTables& tables, const Shape& shape, Element* y) {
  if (!tables.plan.has_outside) return;
  Element value;
  std::memcpy(&value, &tables.outside_bits, sizeof(value));
  for (int64_t i = 0; i < shape.element_count(); ++i) {
    int64_t rest = i;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      const std::vector<bool>& is_outside = tables.plan.axes[d].is_outside;
      if (!is_outside.empty() && is_outside[rest % shape[d]]) {
        y[i] = value;
        break;
      }
      rest /= shape[d];
    }
  }
}

}  // namespace

absl::Status AcceptsResizeNearest(const NodeSite& site) {
  if (ParamsOf(site).mode == ResizeMode::kNearest) {
    return ResizePlan::AcceptsArguments(site);
  }
  return absl::FailedPreconditionError("only nearest copies elements");
}

absl::Status AcceptsResizeWeighted(const NodeSite& site) {
  if (ParamsOf(site).mode != ResizeMode::kNearest) {
    return ResizePlan::AcceptsArguments(site);
  }
  return absl::FailedPreconditionError("nearest has no weights");
}

uint64_t ResizeWorkspaceBytes(const NodeSite& site) {
  const int64_t elements =
      BufferElements(site.input(0).shape, site.output(0).shape);
  const uint64_t sum_bytes =
      site.input_dtype(0) == DType::kFloat64 ? sizeof(double) : sizeof(float);
  return 2 * static_cast<uint64_t>(elements) * sum_bytes;
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareResize(const NodeSite& site,
                                                           Device&) {
  auto tables = std::make_unique<ResizeTables>(site);
  tables->outside_bits =
      BitsOf(site.input_dtype(0), ParamsOf(site).extrapolation_value);
  return tables;
}

KernelCost ResizeCost(const NodeSite& site) {
  const double elements =
      static_cast<double>(site.input(0).shape.element_count()) +
      static_cast<double>(site.output(0).shape.element_count());
  const bool is_nearest = ParamsOf(site).mode == ResizeMode::kNearest;
  // Nearest ones are copied pixel by pixel.
  return {.flops = is_nearest ? elements : 8 * elements,
          .bytes = elements * ByteSize(site.input_dtype(0), 1),
          .efficiency = is_nearest ? 0.028 : kPortableEfficiency};
}

template <int kElementBytes>
absl::Status RunResizeNearest(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const auto& tables = static_cast<const ResizeTables&>(*call.state);
  const Layout& x_layout = call.input_layout(0);
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  const int last = y_shape.rank() - 1;
  const ResizeAxis& row_axis = tables.plan.axes[last];
  const int64_t width = y_shape[last];
  call.context.workers->ParallelFor(
      y_shape.ElementCount(0, last), kGrainElements / width + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          int64_t rest = row;
          const Element* from = x;
          for (int d = last - 1; d >= 0; --d) {
            from += tables.plan.axes[d].IndexOf(rest % y_shape[d]) *
                    x_layout.strides[d];
            rest /= y_shape[d];
          }
          Element* to = y + row * width;
          if (row_axis.is_identity) {
            std::memcpy(to, from, width * kElementBytes);
            continue;
          }
          for (int64_t i = 0; i < width; ++i) to[i] = from[row_axis.indices[i]];
        }
      });
  FillOutside(tables, y_shape, y);
  return absl::OkStatus();
}

template <typename T>
absl::Status RunResizeWeighted(const KernelCall& call) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const auto& tables = static_cast<const ResizeTables&>(*call.state);
  const Shape& x_shape = call.input_layout(0).shape;
  const Shape& y_shape = call.output_layout(0).shape;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  if (tables.plan.passes.empty()) {
    std::memcpy(y, x, y_shape.element_count() * sizeof(T));
    return absl::OkStatus();
  }
  Sum* buffer = reinterpret_cast<Sum*>(call.context.workspace.address());
  Sum* other = buffer + BufferElements(x_shape, y_shape);
  Dims extents(x_shape.extents().begin(), x_shape.extents().end());
  for (size_t pass = 0; pass < tables.plan.passes.size(); ++pass) {
    const int d = tables.plan.passes[pass];
    int64_t outer = 1;
    int64_t inner = 1;
    for (int e = 0; e < d; ++e) outer *= extents[e];
    for (int e = d + 1; e < x_shape.rank(); ++e) inner *= extents[e];
    const bool is_last = pass + 1 == tables.plan.passes.size();
    const auto run = [&](auto* from, auto* to) {
      ResizePass<Sum>(*call.context.workers, tables.plan.axes[d], outer, inner,
                      from, to);
    };
    if (pass == 0) {
      is_last ? run(x, y) : run(x, other);
    } else {
      is_last ? run(buffer, y) : run(buffer, other);
    }
    std::swap(buffer, other);
    extents[d] = y_shape[d];
  }
  FillOutside(tables, y_shape, y);
  return absl::OkStatus();
}

template absl::Status RunResizeNearest<1>(const KernelCall&);
template absl::Status RunResizeNearest<2>(const KernelCall&);
template absl::Status RunResizeNearest<4>(const KernelCall&);
template absl::Status RunResizeNearest<8>(const KernelCall&);
template absl::Status RunResizeWeighted<float>(const KernelCall&);
template absl::Status RunResizeWeighted<double>(const KernelCall&);
template absl::Status RunResizeWeighted<Float16>(const KernelCall&);
template absl::Status RunResizeWeighted<BFloat16>(const KernelCall&);
template absl::Status RunResizeWeighted<int8_t>(const KernelCall&);
template absl::Status RunResizeWeighted<uint8_t>(const KernelCall&);
template absl::Status RunResizeWeighted<int32_t>(const KernelCall&);

}  // namespace tensord
