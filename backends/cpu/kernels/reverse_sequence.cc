// ReverseSequence.
//
//   y[t, b, i] = x[t < length[b] ? length[b] - 1 - t : t, b, i]
//
// with the first two dimensions the other way round when the batch comes first.
// x and y are contiguous and different buffers. A length outside [0, extent of
// the time axis] is kInvalidArgument, and nothing is written then. Elements are
// copied as bytes, so there is one kernel for each element size.

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

constexpr int64_t kGrainBytes = 64 * 1024;

}  // namespace

template <int kElementBytes>
absl::Status RunReverseSequence(const KernelCall& call) {
  const bool is_time_first =
      std::get<ReverseSequenceParams>(call.params).is_time_first;
  const Shape& shape = call.input_layout(0).shape;
  const int64_t times = shape[is_time_first ? 0 : 1];
  const int64_t batches = shape[is_time_first ? 1 : 0];
  const int64_t* lengths = call.input<int64_t>(1);
  for (int64_t b = 0; b < batches; ++b) {
    if (lengths[b] >= 0 && lengths[b] <= times) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "length ", b, " is ", lengths[b], ", outside [0, ", times, "]"));
  }
  const int64_t slice = shape.ElementCount(2, shape.rank());
  const int64_t slice_bytes = slice * kElementBytes;
  if (slice_bytes == 0) return absl::OkStatus();
  using Element = ElementOf<kElementBytes>;
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  call.context.workers->ParallelFor(
      times * batches, kGrainBytes / slice_bytes + 1,
      [=](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; ++at) {
          const int64_t t = is_time_first ? at / batches : at % times;
          const int64_t b = is_time_first ? at % batches : at / times;
          const int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
          const int64_t source =
              is_time_first ? from * batches + b : b * times + from;
          std::memcpy(y + at * slice, x + source * slice, slice_bytes);
        }
      });
  return absl::OkStatus();
}

template absl::Status RunReverseSequence<1>(const KernelCall&);
template absl::Status RunReverseSequence<2>(const KernelCall&);
template absl::Status RunReverseSequence<4>(const KernelCall&);
template absl::Status RunReverseSequence<8>(const KernelCall&);

}  // namespace tensord
