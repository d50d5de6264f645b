// TensorScatter.
//
//   y = cache; y[b, p, places[b] + s, i] = update[b, p, s, i] for each s
//
// The cache and y are [batch, P, length, inner], with the dimensions between
// the batch and the sequence seen as one and those behind it as another; the
// update is shorter along the sequence, or as long; places are [batch], 0 where
// absent. All are contiguous; y may be the cache's buffer. A circular place is
// counted modulo the length, and so is what follows it; any other whose update
// would not fit is kInvalidArgument, and nothing is written then. Elements are
// copied as bytes: one kernel for each element size.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/axis_view.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainBytes = 64 * 1024;

absl::Status CheckPlaces(const int64_t* places, int64_t batch, int64_t length,
                         int64_t written) {
  for (int64_t b = 0; b < batch; ++b) {
    if (places[b] >= 0 && places[b] <= length - written) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("write index ", places[b], " of batch ", b, " is outside ",
                     "[0, ", length - written, "]: ", written,
                     " elements of the sequence go into ", length));
  }
  return absl::OkStatus();
}

template <typename Element>
void Copy(const Element* from, Element* to, int64_t count) {
  if (count != 0) std::memcpy(to, from, count * sizeof(Element));
}

}  // namespace

template <int kElementBytes>
absl::Status RunTensorScatter(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const auto& params = std::get<TensorScatterParams>(call.params);
  const Shape& shape = call.input_layout(0).shape;
  const AxisView view(shape, params.axis);
  const int64_t length = view.extent;
  const int64_t written =
      AxisView(call.input_layout(1).shape, params.axis).extent;
  const int64_t* places = call.has_input(2) ? call.input<int64_t>(2) : nullptr;
  if (places != nullptr && !params.is_circular) {
    if (absl::Status status = CheckPlaces(places, shape[0], length, written);
        !status.ok()) {
      return status;
    }
  }
  const Element* cache = call.input<Element>(0);
  const Element* update = call.input<Element>(1);
  Element* y = call.output<Element>(0);
  if (shape.element_count() == 0) return absl::OkStatus();
  const int64_t block = length * view.inner;
  const int64_t blocks_of_batch = view.outer / shape[0];
  call.context.workers->ParallelFor(
      view.outer, kGrainBytes / (block * kElementBytes) + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t outer = begin; outer < end; ++outer) {
          const int64_t given =
              places == nullptr ? 0 : places[outer / blocks_of_batch];
          const int64_t place = (given % length + length) % length;
          // What runs past the end goes on at the start.
          const int64_t first = std::min(written, length - place);
          const Element* from = update + outer * written * view.inner;
          Element* to = y + outer * block;
          if (y != cache) Copy(cache + outer * block, to, block);
          Copy(from, to + place * view.inner, first * view.inner);
          Copy(from + first * view.inner, to, (written - first) * view.inner);
        }
      });
  return absl::OkStatus();
}

template absl::Status RunTensorScatter<1>(const KernelCall&);
template absl::Status RunTensorScatter<2>(const KernelCall&);
template absl::Status RunTensorScatter<4>(const KernelCall&);
template absl::Status RunTensorScatter<8>(const KernelCall&);

}  // namespace tensord
