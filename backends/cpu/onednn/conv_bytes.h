#ifndef TENSORD_BACKENDS_CPU_ONEDNN_CONV_BYTES_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_CONV_BYTES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/onednn/conv_state.h"
#include "backends/cpu/packed_store.h"

// What QLinearConv and ConvInteger share: convolutions of 8-bit integers whose
// weights are constant, with zero points of 0 (int8) or 128 (uint8).
namespace tensord::onednn {

// How many times as fast as the device's rate the library is (split.h).
inline constexpr double kByteConvSpeedup = 3;
// What it costs to turn one element around.
inline constexpr double kByteTurnFlops = 80;

// An element of an operand that is known.
inline int32_t ByteAt(const NodeSite& site, int input, int64_t i) {
  const std::byte* bytes = site.host_constant(input);
  return site.input_dtype(input) == DType::kInt8
             ? reinterpret_cast<const int8_t*>(bytes)[i]
             : reinterpret_cast<const uint8_t*>(bytes)[i];
}

inline dnnl_data_type_t ByteType(DType dtype) {
  return dtype == DType::kInt8 ? dnnl_s8 : dnnl_u8;
}

// Whether the weights, without their highest bit where they are unsigned, are
// what they stand for. Both operands are known; an absent zero point is 0.
inline absl::Status CheckWeightZeros(const NodeSite& site, int weights,
                                     int zeros) {
  const int32_t wanted = site.input_dtype(weights) == DType::kInt8 ? 0 : 128;
  const int64_t count =
      site.has_input(zeros) ? site.input(zeros).shape.element_count() : 1;
  for (int64_t i = 0; i < count; ++i) {
    const int32_t zero = site.has_input(zeros) ? ByteAt(site, zeros, i) : 0;
    if (zero == wanted) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        "a zero point of the weights is ", zero, ", not ", wanted));
  }
  return absl::OkStatus();
}

// A convolution with channels first of an image of one pixel is one with
// channels last.
inline bool HasChannelsLast(const NodeSite& site,
                            const conv::Geometry& geometry) {
  return std::get<ConvParams>(site.params).channels_last ||
         (geometry.inputs() == 1 && geometry.outputs() == 1);
}

inline KernelCost ByteConvCost(const NodeSite& site,
                               const conv::Geometry& geometry, int weights,
                               double output_bytes) {
  const double x = site.input(0).shape.element_count();
  const double w = site.input(weights).shape.element_count();
  const double y = site.output(0).shape.element_count();
  double flops = 2 * y * geometry.depth() / kByteConvSpeedup;
  if (!HasChannelsLast(site, geometry)) flops += kByteTurnFlops * (x + y);
  return {.flops = flops, .bytes = x + w + y * output_bytes};
}

// Unsigned weights as signed ones that are 128 less.
inline absl::StatusOr<std::unique_ptr<KernelState>> MakeByteConv(
    const NodeSite& site, const ConvSite& conv, int weights, Device& device) {
  const absl::Span<const std::byte> w = HostBytes(site, weights);
  const bool is_signed = site.input_dtype(weights) != DType::kUInt8;
  std::vector<std::byte> flipped;  // once it is wanted
  const auto elements = [&]() -> const std::byte* {
    if (is_signed) return w.data();
    if (flipped.empty()) {
      flipped.assign(w.begin(), w.end());
      for (std::byte& element : flipped) element ^= std::byte{0x80};
    }
    return flipped.data();
  };
  return ConvState::Create(
      site, conv,
      {.content = w, .change = is_signed ? "" : "signed", .elements = elements},
      device);
}

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_CONV_BYTES_H_
