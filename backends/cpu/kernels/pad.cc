// Pad.
//
//   y[i] = x[i - begin] where that lies inside x, in every dimension; else the
//   value, or the element of x that the mode says:
//     edge     the nearest one
//     reflect  mirrored at the first and the last element, which are not
//     doubled wrap     as if x were repeated
//
// x and y are contiguous and different buffers. Pads below 0 take elements
// away. The pads must be known before the run. Elements are copied as bytes, so
// there is one kernel for each element size.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainElements = 16 * 1024;
constexpr int64_t kOutside = -1;

class Begins final : public KernelState {
 public:
  // How far x is moved along each dimension.
  std::array<int64_t, kMaxRank> begins{};
};

int64_t ModuloPositive(int64_t value, int64_t modulus) {
  const int64_t rest = value % modulus;
  return rest < 0 ? rest + modulus : rest;
}

// The index in x, of `extent` elements, for index i relative to x's first
// element; kOutside for the value. Only kConstant gets an extent of 0.
int64_t SourceIndex(PadMode mode, int64_t i, int64_t extent) {
  if (i >= 0 && i < extent) return i;
  switch (mode) {
    case PadMode::kConstant:
      return kOutside;
    case PadMode::kEdge:
      return i < 0 ? 0 : extent - 1;
    case PadMode::kWrap:
      return ModuloPositive(i, extent);
    case PadMode::kReflect: {
      if (extent == 1) return 0;
      const int64_t period = 2 * (extent - 1);
      const int64_t at = ModuloPositive(i, period);
      return at < extent ? at : period - at;
    }
  }
  return kOutside;
}

// One row of y from the row of x at `source`, which is null outside x.
template <typename Element>
void PadRow(PadMode mode, const Element* source, int64_t extent, int64_t begin,
            Element value, Element* y, int64_t length) {
  if (source == nullptr) {
    std::fill_n(y, length, value);
    return;
  }
  const int64_t first = std::clamp<int64_t>(begin, 0, length);
  const int64_t last = std::clamp<int64_t>(begin + extent, first, length);
  const auto fill = [&](int64_t from, int64_t to) {
    for (int64_t i = from; i < to; ++i) {
      const int64_t at = SourceIndex(mode, i - begin, extent);
      y[i] = at == kOutside ? value : source[at];
    }
  };
  fill(0, first);
  if (last > first) {
    std::copy(source + (first - begin), source + (last - begin), y + first);
  }
  fill(last, length);
}

}  // namespace

absl::Status AcceptsPad(const NodeSite& site) {
  if (site.layouts.empty()) return absl::OkStatus();
  for (int i : {1, 3}) {
    if (!site.has_input(i) || site.input(i).shape.element_count() == 0 ||
        site.host_constant(i) != nullptr) {
      continue;
    }
    return absl::FailedPreconditionError(absl::StrCat(
        i == 1 ? "pads" : "axes", " are not known before the run"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<KernelState>> PreparePad(const NodeSite& site,
                                                        Device&) {
  auto state = std::make_unique<Begins>();
  const auto* pads = reinterpret_cast<const int64_t*>(site.host_constant(1));
  const int rank = site.input(0).shape.rank();
  if (!site.has_input(3)) {
    std::copy_n(pads, rank, state->begins.begin());
    return state;
  }
  const std::byte* axes = site.host_constant(3);
  for (int64_t i = 0; i < site.input(3).shape.element_count(); ++i) {
    const int64_t axis = site.input_dtype(3) == DType::kInt32
                             ? reinterpret_cast<const int32_t*>(axes)[i]
                             : reinterpret_cast<const int64_t*>(axes)[i];
    state->begins[axis < 0 ? axis + rank : axis] = pads[i];
  }
  return state;
}

template <int kElementBytes>
absl::Status RunPad(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const PadMode mode = std::get<PadParams>(call.params).mode;
  const auto& begins = static_cast<const Begins*>(call.state)->begins;
  const Shape& x_shape = call.input_layout(0).shape;
  const Shape& y_shape = call.output_layout(0).shape;
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  const Element value = call.has_input(2) ? *call.input<Element>(2) : 0;
  if (y_shape.element_count() == 0) return absl::OkStatus();
  const int rank = y_shape.rank();
  if (rank == 0) {
    *y = *x;
    return absl::OkStatus();
  }
  const int last = rank - 1;
  const int64_t length = y_shape[last];
  call.context.workers->ParallelFor(
      y_shape.element_count() / length, kGrainElements / length + 1,
      [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          int64_t rest = row;
          int64_t offset = 0;
          int64_t stride = x_shape[last];
          bool is_outside = x_shape.element_count() == 0;
          for (int d = last - 1; d >= 0 && !is_outside; --d) {
            const int64_t at =
                SourceIndex(mode, rest % y_shape[d] - begins[d], x_shape[d]);
            rest /= y_shape[d];
            is_outside = at == kOutside;
            offset += at * stride;
            stride *= x_shape[d];
          }
          PadRow(mode, is_outside ? nullptr : x + offset, x_shape[last],
                 begins[last], value, y + row * length, length);
        }
      });
  return absl::OkStatus();
}

template absl::Status RunPad<1>(const KernelCall&);
template absl::Status RunPad<2>(const KernelCall&);
template absl::Status RunPad<4>(const KernelCall&);
template absl::Status RunPad<8>(const KernelCall&);

}  // namespace tensord
