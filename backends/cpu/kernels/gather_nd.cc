// GatherND.
//
//   y[b, t, ...] = x[b, indices[b, t, 0], indices[b, t, 1], ..., ...]
//
// All are contiguous: x seen as [batch, what a tuple picks from], the indices
// as [batch, tuples, length], y as [batch, tuples, slice]; y is no input's
// buffer. An index below 0 counts from the end; one out of range is
// kInvalidArgument, and nothing is written then. Elements are copied as bytes,
// so there is one kernel for each element size.

#include <cstdint>
#include <cstring>

#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"
#include "backends/cpu/kernels/indices.h"

namespace tensord {
namespace {

constexpr int64_t kGrainBytes = 64 * 1024;

}  // namespace

template <int kElementBytes>
absl::Status RunGatherND(const KernelCall& call) {
  using Element = ElementOf<kElementBytes>;
  const auto batch_dims =
      static_cast<int>(std::get<GatherNdParams>(call.params).batch_dims);
  const Shape& x_shape = call.input_layout(0).shape;
  const Shape& indices_shape = call.input_layout(1).shape;
  const int last = indices_shape.rank() - 1;
  const TupleIndex index(x_shape, batch_dims, indices_shape[last]);
  const int64_t tuples = indices_shape.ElementCount(batch_dims, last);
  const int64_t count = indices_shape.ElementCount(0, last);
  const int64_t* indices = call.input<int64_t>(1);
  if (absl::Status status = index.Check(indices, count); !status.ok()) {
    return status;
  }
  if (index.slice() == 0) return absl::OkStatus();
  const Element* x = call.input<Element>(0);
  Element* y = call.output<Element>(0);
  const int64_t slice_bytes = index.slice() * kElementBytes;
  call.context.workers->ParallelFor(
      count, kGrainBytes / slice_bytes + 1, [&](int64_t begin, int64_t end) {
        for (int64_t t = begin; t < end; ++t) {
          const Element* from = x + t / tuples * index.whole() +
                                index.OffsetOf(indices + t * index.length());
          std::memcpy(y + t * index.slice(), from, slice_bytes);
        }
      });
  return absl::OkStatus();
}

template absl::Status RunGatherND<1>(const KernelCall&);
template absl::Status RunGatherND<2>(const KernelCall&);
template absl::Status RunGatherND<4>(const KernelCall&);
template absl::Status RunGatherND<8>(const KernelCall&);

}  // namespace tensord
