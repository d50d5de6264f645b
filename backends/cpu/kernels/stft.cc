// STFT: the spectra of frames of a signal.
//
//   y[b, f, k] = sum over n < L of x[b, f * step + n] * window[n] *
//                exp(-2 pi i k n / L)
//
// for x [batch, signal, 1 or 2] of real or complex numbers, the real window [L]
// (1 everywhere where there is none) and y [batch, frames, bins, 2] of complex
// ones, with k up to L / 2 where it is one-sided. All are contiguous and y is
// another buffer. Computes in x's type, 16-bit floats in float32. Step and
// length must be known before the run. A length that fourier::CheckLength()
// refuses is kResourceExhausted, unless there are no frames.

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

constexpr int kStepInput = 1;
constexpr int kWindowInput = 2;
constexpr int kLengthInput = 3;

int64_t LengthOf(const NodeSite& site) {
  if (site.has_input(kWindowInput)) return site.input(kWindowInput).shape[0];
  if (site.has_input(kLengthInput)) return HostInteger(site, kLengthInput);
  return site.input(0).shape[1];
}

int64_t FrameCount(const NodeSite& site) {
  return site.output(0).shape.ElementCount(0, 2);
}

template <typename Number>
class StftState final : public KernelState {
 public:
  StftState(int64_t step, int64_t length) : step(step), transform(length) {}
  uint64_t footprint_bytes() const override {
    return transform.footprint_bytes();
  }

  const int64_t step;
  const fourier::Transform<Number> transform;
};

}  // namespace

absl::Status AcceptsStft(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  if (site.host_constant(kStepInput) == nullptr) {
    return absl::FailedPreconditionError(
        "the frames' step is not known before the run");
  }
  if (!site.has_input(kWindowInput) && site.has_input(kLengthInput) &&
      site.host_constant(kLengthInput) == nullptr) {
    return absl::FailedPreconditionError(
        "the frames' length is not known before the run");
  }
  return absl::OkStatus();
}

template <typename T>
uint64_t StftWorkspaceBytes(const NodeSite& site) {
  return fourier::WorkspaceBytes<ComputeType<T>>(FrameCount(site),
                                                 LengthOf(site));
}

template <typename T>
absl::StatusOr<std::unique_ptr<KernelState>> PrepareStft(const NodeSite& site,
                                                         Device&) {
  const int64_t length = LengthOf(site);
  if (FrameCount(site) == 0) return nullptr;
  if (absl::Status status = fourier::CheckLength(length); !status.ok()) {
    return status;
  }
  return std::make_unique<StftState<ComputeType<T>>>(
      HostInteger(site, kStepInput), length);
}

KernelCost StftCost(const NodeSite& site) {
  return {.flops = static_cast<double>(FrameCount(site)) *
                   fourier::Flops(static_cast<double>(LengthOf(site))),
          .bytes = static_cast<double>(ByteSize(
              site.input_dtype(0), site.input(0).shape.element_count() +
                                       site.output(0).shape.element_count())),
          .efficiency = kPortableEfficiency};
}

template <typename T>
absl::Status RunStft(const KernelCall& call) {
  using Number = ComputeType<T>;
  if (call.state == nullptr) return absl::OkStatus();  // no frames
  const auto& state = static_cast<const StftState<Number>&>(*call.state);
  const int64_t length = state.transform.length();
  const Shape& x_shape = call.input_layout(0).shape;
  const Shape& y_shape = call.output_layout(0).shape;
  const int64_t frames = y_shape[1];
  const int64_t bins = y_shape[2];
  const int64_t parts = x_shape[2];
  const T* x = call.input<T>(0);
  const T* window =
      call.has_input(kWindowInput) ? call.input<T>(kWindowInput) : nullptr;
  T* y = call.output<T>(0);
  fourier::ForEachLine<Number>(
      call.context, x_shape[0] * frames, length,
      [&](int64_t line, auto* data, auto* scratch) {
        const T* frame =
            x +
            (line / frames * x_shape[1] + line % frames * state.step) * parts;
        for (int64_t n = 0; n < length; ++n) {
          const Number weight = window == nullptr ? 1 : Number(window[n]);
          const Number imaginary =
              parts == 2 ? Number(frame[n * parts + 1]) : 0;
          data[n] = {Number(frame[n * parts]) * weight, imaginary * weight};
        }
        const auto* result = state.transform.Run(data, scratch);
        T* out = y + line * bins * 2;
        for (int64_t k = 0; k < bins; ++k) {
          out[2 * k] = static_cast<T>(result[k].re);
          out[2 * k + 1] = static_cast<T>(result[k].im);
        }
      });
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE(T)                                          \
  template uint64_t StftWorkspaceBytes<T>(const NodeSite&);             \
  template absl::StatusOr<std::unique_ptr<KernelState>> PrepareStft<T>( \
      const NodeSite&, Device&);                                        \
  template absl::Status RunStft<T>(const KernelCall&);

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)

}  // namespace tensord
