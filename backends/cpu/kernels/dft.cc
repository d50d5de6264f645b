// DFT, and its inverse.
//
//   y[o, k, i] = sum over n < L of x[o, n, i] * exp(-+2 pi i k n / L)
//
// for x seen as [outer, extent of the axis, inner], of real or complex numbers
// (a last dimension of 1 or 2), with zeros behind its end where the length L is
// greater. The inverse has the other sign and is divided by L.
//
// One-sided, only k in [0, L / 2] is stored, of real x. The inverse of that
// takes n in [0, L / 2], the others being their conjugates, and stores real
// numbers; imaginary parts that no real signal has (at 0, and at L / 2 for an
// even L) count as 0.
//
// x and y are contiguous and different buffers. Computes in x's type, 16-bit
// floats in float32. Axis and length must be known before the run. A length
// that fourier::CheckLength() refuses is kResourceExhausted, unless there is
// nothing to transform.

#include <cstdint>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/efficiency.h"
#include "backends/cpu/kernels/fourier.h"
#include "backends/cpu/kernels/host_scalar.h"

namespace tensord {
namespace {

constexpr int kLengthInput = 1;
constexpr int kAxisInput = 2;

const DftParams& ParamsOf(const NodeSite& site) {
  return std::get<DftParams>(site.params);
}

int AxisOf(const NodeSite& site) {
  const int64_t axis = site.has_input(kAxisInput)
                           ? HostInteger(site, kAxisInput)
                           : ParamsOf(site).axis;
  const int rank = site.input(0).shape.rank();
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

int64_t LengthOf(const NodeSite& site) {
  if (site.has_input(kLengthInput)) return HostInteger(site, kLengthInput);
  const DftParams& params = ParamsOf(site);
  const bool is_real_inverse = params.is_inverse && params.is_one_sided;
  return (is_real_inverse ? site.output(0) : site.input(0)).shape[AxisOf(site)];
}

int64_t LineCount(const Shape& x, int axis) {
  return x.ElementCount(0, axis) * x.ElementCount(axis + 1, x.rank() - 1);
}

template <typename Number>
class DftState final : public KernelState {
 public:
  DftState(int axis, int64_t length) : axis(axis), transform(length) {}
  uint64_t footprint_bytes() const override {
    return transform.footprint_bytes();
  }

  const int axis;
  const fourier::Transform<Number> transform;
};

// Elements of one line: element n's parts are at [n * stride].
template <typename T>
struct Line {
  T* first;
  int64_t extent;
  int64_t stride;
  bool is_complex;
};

template <typename T>
fourier::Complex<ComputeType<T>> ElementOf(const Line<const T>& x, int64_t n) {
  if (n >= x.extent) return {0, 0};
  const T* parts = x.first + n * x.stride;
  return {parts[0], x.is_complex ? ComputeType<T>(parts[1]) : 0};
}

// The inverse is the forward transform with real and imaginary parts exchanged
// on both sides.
template <typename T>
void Load(const DftParams& params, const Line<const T>& x, int64_t length,
          fourier::Complex<ComputeType<T>>* data) {
  if (!params.is_inverse) {
    for (int64_t n = 0; n < length; ++n) data[n] = ElementOf(x, n);
    return;
  }
  const int64_t given = params.is_one_sided ? length / 2 + 1 : length;
  for (int64_t n = 0; n < given; ++n) {
    const auto element = ElementOf(x, n);
    data[n] = {element.im, element.re};
  }
  if (!params.is_one_sided) return;
  data[0].re = 0;
  if (length % 2 == 0) data[length / 2].re = 0;
  for (int64_t n = given; n < length; ++n) {
    data[n] = {-data[length - n].re, data[length - n].im};
  }
}

template <typename T>
void Store(const DftParams& params,
           const fourier::Complex<ComputeType<T>>* result, int64_t length,
           const Line<T>& y) {
  const ComputeType<T> scale =
      ComputeType<T>{1} / static_cast<ComputeType<T>>(length);
  for (int64_t k = 0; k < y.extent; ++k) {
    T* parts = y.first + k * y.stride;
    if (!params.is_inverse) {
      parts[0] = static_cast<T>(result[k].re);
      parts[1] = static_cast<T>(result[k].im);
    } else {
      parts[0] = static_cast<T>(result[k].im * scale);
      if (y.is_complex) parts[1] = static_cast<T>(result[k].re * scale);
    }
  }
}

template <typename T>
Line<T> LineOf(T* elements, const Shape& shape, int axis, int64_t line) {
  const int64_t parts = shape[shape.rank() - 1];
  const int64_t inner = shape.ElementCount(axis + 1, shape.rank() - 1);
  const int64_t extent = shape[axis];
  return {elements + (line / inner * extent * inner + line % inner) * parts,
          extent, inner * parts, parts == 2};
}

}  // namespace

absl::Status AcceptsDft(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  for (int i : {kLengthInput, kAxisInput}) {
    if (site.has_input(i) && site.host_constant(i) == nullptr) {
      return absl::FailedPreconditionError(
          absl::StrCat(i == kAxisInput ? "the axis" : "the length",
                       " is not known before the run"));
    }
  }
  return absl::OkStatus();
}

template <typename T>
uint64_t DftWorkspaceBytes(const NodeSite& site) {
  return fourier::WorkspaceBytes<ComputeType<T>>(
      LineCount(site.input(0).shape, AxisOf(site)), LengthOf(site));
}

template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareDft(const NodeSite& site,
                                                        Device&) {
  const int axis = AxisOf(site);
  const int64_t length = LengthOf(site);
  if (LineCount(site.input(0).shape, axis) == 0) return nullptr;
  if (absl::Status status = fourier::CheckLength(length); !status.ok()) {
    return status;
  }
  return std::make_unique<DftState<ComputeType<T>>>(axis, length);
}

KernelCost DftCost(const NodeSite& site) {
  const auto lines =
      static_cast<double>(LineCount(site.input(0).shape, AxisOf(site)));
  const auto length = static_cast<double>(LengthOf(site));
  return {.flops = lines * fourier::Flops(length),
          .bytes = static_cast<double>(ByteSize(
              site.input_dtype(0), site.input(0).shape.element_count() +
                                       site.output(0).shape.element_count())),
          .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunDft(const KernelCall& call) {
  using Number = ComputeType<T>;
  if (call.state == nullptr) return absl::OkStatus();  // no lines
  const auto& params = std::get<DftParams>(call.params);
  const auto& state = static_cast<const DftState<Number>&>(*call.state);
  const fourier::Transform<Number>& transform = state.transform;
  const Shape& x_shape = call.input_layout(0).shape;
  const Shape& y_shape = call.output_layout(0).shape;
  const T* x = call.input<T>(0);
  T* y = call.output<T>(0);
  fourier::ForEachLine<Number>(
      call.context, LineCount(x_shape, state.axis), transform.length(),
      [&](int64_t line, auto* data, auto* scratch) {
        Load<T>(params, LineOf(x, x_shape, state.axis, line),
                transform.length(), data);
        Store<T>(params, transform.Run(data, scratch), transform.length(),
                 LineOf(y, y_shape, state.axis, line));
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                         \
  template uint64_t DftWorkspaceBytes<T>(const NodeSite&);             \
  template absl::StatusOr<std::unique_ptr<KernelState>> PrepareDft<T>( \
      const NodeSite&, Device&);                                       \
  template absl::Status RunDft<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
