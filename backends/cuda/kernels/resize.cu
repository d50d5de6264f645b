// Resize and Upsample.
//
//   y[i0, i1, ...] = sum over taps k0, k1, ... of
//                    w0[i0, k0] * w1[i1, k1] * ... * x[j0[i0, k0], ...]
//
// where each dimension's indices j and weights w are made ahead of the run (see
// resize_plan.h) and kept on the device. x and y are contiguous and different
// buffers. A thread makes one output, over the dimensions that change: the sums
// are nested in the order in which separate passes over them would be, and no
// product is fused to a sum, so that integers, which are rounded towards zero,
// come out as on the host. Accumulates in float32 (float64 for float64).
//
// Nearest only copies elements, as bytes. Up to four dimensions may change. The
// scales, the sizes and the region must be known before the run.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/api/resize_plan.h"
#include "backends/cuda/kernels/divisor.h"
#include "backends/cuda/kernels/element.h"
#include "backends/cuda/kernels/launch.h"
#include "backends/cuda/kernels/number.h"
#include "backends/cuda/kernels/row_macros.h"
#include "backends/cuda/kernels/rows.h"
#include "backends/cuda/shared_weights.h"

namespace tensord::cuda {
namespace {

constexpr int kMaxPasses = 4;

// A dimension that changes, by the pass in which it would be; one that is not
// there has a single tap of weight 1.
struct Pass {
  int taps = 1;
  int64_t stride = 0;                // of x
  const int32_t* indices = nullptr;  // [extent of y, taps]
  const float* weights = nullptr;    // the same; null for nearest
  const uint8_t* outside = nullptr;  // [extent of y]; null where none is
};
struct Passes {
  Pass passes[kMaxPasses];
};

// y's dimensions, the innermost last; neighbours that stay are merged.
struct Dimensions {
  int count = 0;
  Divisor<uint32_t> extents[kMaxRank];
  int64_t strides[kMaxRank];  // of x
  int pass[kMaxRank];         // -1: it stays
};

// Where an output is in each pass's tables, and what its other dimensions come
// to in x.
struct Place {
  int64_t rows[kMaxPasses] = {};
  int64_t offset = 0;
};
__device__ Place PlaceOf(const Dimensions& dimensions, uint32_t at) {
  Place place;
  for (int d = dimensions.count - 1; d >= 0; --d) {
    uint32_t index = at;
    at = DivideBy(dimensions.extents[d], index);
    // Written out, so that the rows stay in registers.
    const int pass = dimensions.pass[d];
    if (pass < 0) place.offset += index * dimensions.strides[d];
    for (int p = 0; p < kMaxPasses; ++p) {
      if (pass == p) place.rows[p] = static_cast<int64_t>(index);
    }
  }
  return place;
}

__device__ bool IsOutside(const Passes& passes, const Place& place) {
  bool is_outside = false;
  for (int p = 0; p < kMaxPasses; ++p) {
    const uint8_t* outside = passes.passes[p].outside;
    if (outside != nullptr && outside[place.rows[p]] != 0) is_outside = true;
  }
  return is_outside;
}

// The sum of passes kPass and those before it, whose first element is at x.
template <int kPass, typename Sum, typename T>
__device__ Sum SumOf(const Passes& passes, const Place& place, const T* x) {
  if constexpr (kPass < 0) {
    return static_cast<Sum>(ToCompute(*x));
  } else {
    const Pass& pass = passes.passes[kPass];
    if (pass.indices == nullptr) return SumOf<kPass - 1, Sum>(passes, place, x);
    const int64_t row = place.rows[kPass] * pass.taps;
    Sum sum = 0;
    for (int k = 0; k < pass.taps; ++k) {
      const Sum weight = pass.weights[row + k];
      if (weight == 0) continue;  // 0 times an infinity is a NaN
      sum += RoundedProduct(
          weight, SumOf<kPass - 1, Sum>(
                      passes, place, x + pass.indices[row + k] * pass.stride));
    }
    return sum;
  }
}

template <typename T>
__global__ void ResizeWeighted(Dimensions dimensions, Passes passes, const T* x,
                               T* y, uint32_t count, double outside) {
  using Sum = std::conditional_t<std::is_same_v<T, double>, double, float>;
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const Place place = PlaceOf(dimensions, i);
    y[i] = IsOutside(passes, place) ? Convert<T>(outside)
                                    : Convert<T>(SumOf<kMaxPasses - 1, Sum>(
                                          passes, place, x + place.offset));
  }
}

template <typename Element>
__global__ void ResizeNearest(Dimensions dimensions, Passes passes,
                              const Element* x, Element* y, uint32_t count,
                              Element outside) {
  const uint32_t step = gridDim.x * blockDim.x;
  for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count;
       i += step) {
    const Place place = PlaceOf(dimensions, i);
    int64_t offset = place.offset;
    for (int p = 0; p < kMaxPasses; ++p) {
      const Pass& pass = passes.passes[p];
      if (pass.indices != nullptr) {
        offset += pass.indices[place.rows[p]] * pass.stride;
      }
    }
    y[i] = IsOutside(passes, place) ? outside : x[offset];
  }
}

const ResizeParams& ParamsOf(const NodeSite& site) {
  return std::get<ResizeParams>(site.params);
}

// The tables on the device, and where they are.
class ResizeState final : public KernelState {
 public:
  std::shared_ptr<const Storage> tables;
  Passes passes;
  std::vector<int> pass_of;   // by dimension; -1: it stays
  uint64_t outside_bits = 0;  // the extrapolation value as an element
};

// Appends values, aligned for any of them, and returns where they begin.
template <typename T, typename Values>
size_t Append(const Values& values, std::vector<std::byte>& bytes) {
  const size_t at = (bytes.size() + 15) / 16 * 16;
  bytes.resize(at + values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + at + i * sizeof(T), &value, sizeof(T));
  }
  return at;
}

uint64_t BitsOf(DType dtype, float value) {
  const auto bits_of = [](auto element) {
    uint64_t bits = 0;
    std::memcpy(&bits, &element, sizeof(element));
    return bits;
  };
  switch (dtype) {
    case DType::kFloat64:
      return bits_of(static_cast<double>(value));
    case DType::kFloat16:
      return bits_of(Float16(value));
    case DType::kBFloat16:
      return bits_of(BFloat16(value));
    default:
      return bits_of(value);
  }
}

bool IsFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

// A dimension may change although its extent stays.
absl::Status CheckPasses(const ResizePlan& plan) {
  if (plan.passes.size() <= kMaxPasses) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat(
      plan.passes.size(), " dimensions change, at most ", kMaxPasses, " may"));
}

absl::Status AcceptsResize(const NodeSite& site, bool is_nearest) {
  const ResizeParams& params = ParamsOf(site);
  if ((params.mode == ResizeMode::kNearest) != is_nearest) {
    return absl::FailedPreconditionError(
        is_nearest ? "only nearest copies elements" : "nearest has no weights");
  }
  if (is_nearest && params.coordinates == ResizeCoordinates::kTfCropAndResize &&
      !IsFloating(site.input_dtype(0))) {
    return absl::UnimplementedError("what is outside would be an integer");
  }
  if (site.layouts.empty()) return absl::OkStatus();
  if (absl::Status s = ResizePlan::AcceptsArguments(site); !s.ok()) return s;
  const Shape& x = site.input(0).shape;
  const int64_t outputs = site.output(0).shape.element_count();
  // Also bounds x's extents, which the tables have in 32 bits, unless x is
  // empty: then there is no table.
  if (std::max(x.element_count(), outputs) >= kMostNarrow) {
    return absl::UnimplementedError(absl::StrCat(
        x.element_count(), " elements become ", outputs, ": too many"));
  }
  return x.rank() <= kMaxPasses ? absl::OkStatus()
                                : CheckPasses(ResizePlan(site));
}
absl::Status AcceptsNearest(const NodeSite& site) {
  return AcceptsResize(site, /*is_nearest=*/true);
}
absl::Status AcceptsWeighted(const NodeSite& site) {
  return AcceptsResize(site, /*is_nearest=*/false);
}

absl::StatusOr<std::unique_ptr<KernelState>> PrepareResize(const NodeSite& site,
                                                           Device& device) {
  const ResizePlan plan(site);
  auto state = std::make_unique<ResizeState>();
  if (plan.axes.empty()) return state;
  if (absl::Status s = CheckPasses(plan); !s.ok()) return s;
  struct Offsets {
    size_t indices, weights, outside;
  };
  std::vector<Offsets> offsets;
  std::vector<std::byte> bytes;
  state->pass_of.assign(plan.axes.size(), -1);
  for (size_t p = 0; p < plan.passes.size(); ++p) {
    const ResizeAxis& axis = plan.axes[plan.passes[p]];
    state->pass_of[plan.passes[p]] = static_cast<int>(p);
    offsets.push_back({Append<int32_t>(axis.indices, bytes),
                       Append<float>(axis.weights, bytes),
                       Append<uint8_t>(axis.is_outside, bytes)});
  }
  state->outside_bits =
      BitsOf(site.input_dtype(0), ParamsOf(site).extrapolation_value);
  if (bytes.empty()) return state;  // nothing changes
  auto tables =
      SharedWeights(device, bytes, "resize tables", [&] { return bytes; });
  if (!tables.ok()) return tables.status();
  state->tables = *std::move(tables);
  const std::byte* address = state->tables->address();
  for (size_t p = 0; p < plan.passes.size(); ++p) {
    const ResizeAxis& axis = plan.axes[plan.passes[p]];
    Pass& pass = state->passes.passes[p];
    pass.taps = static_cast<int>(axis.taps);
    pass.stride = site.input(0).strides[plan.passes[p]];
    pass.indices =
        reinterpret_cast<const int32_t*>(address + offsets[p].indices);
    pass.weights = reinterpret_cast<const float*>(address + offsets[p].weights);
    if (!axis.is_outside.empty()) {
      pass.outside =
          reinterpret_cast<const uint8_t*>(address + offsets[p].outside);
    }
  }
  return state;
}

Dimensions DimensionsOf(const KernelCall& call, const ResizeState& state) {
  const Layout& x = call.input_layout(0);
  const Shape& y = call.output_layout(0).shape;
  Dimensions dimensions = {};
  Dims extents;
  for (int d = 0; d < y.rank(); ++d) {
    const int pass = state.pass_of[d];
    const int last = dimensions.count - 1;
    if (pass < 0 && last >= 0 && dimensions.pass[last] < 0) {
      extents.back() *= y[d];
      dimensions.strides[last] = x.strides[d];
      continue;
    }
    extents.push_back(y[d]);
    dimensions.strides[dimensions.count] = x.strides[d];
    dimensions.pass[dimensions.count++] = pass;
  }
  for (int d = 0; d < dimensions.count; ++d) {
    dimensions.extents[d] = Divisor<uint32_t>(extents[d]);
  }
  return dimensions;
}

template <typename T>
absl::Status RunWeighted(const KernelCall& call) {
  const auto& state = static_cast<const ResizeState&>(*call.state);
  const int64_t count = call.output_layout(0).shape.element_count();
  if (count == 0) return absl::OkStatus();
  return Launch(
      call.context, ResizeWeighted<T>, ForElements(count),
      DimensionsOf(call, state), state.passes, call.input<T>(0),
      call.output<T>(0), static_cast<uint32_t>(count),
      double{std::get<ResizeParams>(call.params).extrapolation_value});
}

template <int kBytes>
absl::Status RunNearest(const KernelCall& call) {
  using Element = ElementOf<kBytes>;
  const auto& state = static_cast<const ResizeState&>(*call.state);
  const int64_t count = call.output_layout(0).shape.element_count();
  if (count == 0) return absl::OkStatus();
  Element outside;
  std::memcpy(&outside, &state.outside_bits, sizeof(outside));
  return Launch(call.context, ResizeNearest<Element>, ForElements(count),
                DimensionsOf(call, state), state.passes, call.input<Element>(0),
                call.output<Element>(0), static_cast<uint32_t>(count), outside);
}

KernelCost ResizeCost(const NodeSite& site) {
  const double elements =
      static_cast<double>(site.input(0).shape.element_count()) +
      static_cast<double>(site.output(0).shape.element_count());
  const bool is_nearest = ParamsOf(site).mode == ResizeMode::kNearest;
  return {
      .flops = is_nearest ? elements : 8 * elements,
      .bytes = elements * static_cast<double>(ByteSize(site.input_dtype(0), 1)),
      .efficiency = 0.1};
}

#define RESIZE_DTYPES(dtype)                                              \
  (Takes({DType::dtype, DType::kFloat32, DType::kFloat32, DType::kInt64}, \
         {DType::dtype}))
#define NEAREST(dtype, bytes, suffix, op, name)                       \
  TENSORD_CUDA_ROW(op, name "_nearest_" suffix, RESIZE_DTYPES(dtype), \
                   "resize.cu", .accepts = &AcceptsNearest,           \
                   .prepare = &PrepareResize, .cost = &ResizeCost,    \
                   .run = &RunNearest<bytes>)
#define WEIGHTED(T, dtype, suffix, op, name)                               \
  TENSORD_CUDA_ROW(op, name "_" suffix, RESIZE_DTYPES(dtype), "resize.cu", \
                   .accepts = &AcceptsWeighted, .prepare = &PrepareResize, \
                   .cost = &ResizeCost, .run = &RunWeighted<T>)
#define RESIZE(op, name)                         \
  TENSORD_CUDA_BYTES(NEAREST, op, name),         \
      TENSORD_CUDA_FLOATS(WEIGHTED, op, name),   \
      WEIGHTED(int8_t, kInt8, "i8", op, name),   \
      WEIGHTED(uint8_t, kUInt8, "u8", op, name), \
      WEIGHTED(int32_t, kInt32, "i32", op, name)

constexpr KernelEntry kRows[] = {
    RESIZE(Resize, "resize"),
    RESIZE(Upsample, "upsample"),
};

}  // namespace

absl::Span<const KernelEntry> ResizeRows() { return kRows; }

}  // namespace tensord::cuda
