// MaxUnpool: elements go where the maxima of a MaxPool were, the rest is 0.
//
//   y[place(indices[i])] = x[i], x and indices seen as one line; of equal
//   indices the last wins
//
// An index counts elements of the extents that MaxPool with these parameters
// would have pooled, which may be fewer than y's in any spatial dimension: they
// are y's first ones then. x and indices (int64) are contiguous and have the
// same shape; y is another buffer. Elements are copied as bytes. Indices
// outside those extents are kInvalidArgument.

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"
#include "backends/api/window.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {
namespace {

// What the indices count.
class Pooled {
 public:
  Pooled(const PoolParams& params, const Shape& x, const Shape& y) : y_(y) {
    const int spatial_rank = x.rank() - 2;
    for (int d = 0; d < x.rank(); ++d) {
      extents_[d] = x[d];
      if (d >= 2) {
        const WindowAxis window =
            ResolveWindowAxis(params, d - 2, spatial_rank, /*input_extent=*/1);
        extents_[d] = x[d] * window.stride + window.kernel - window.stride -
                      window.pad_begin - window.pad_end;
      }
      element_count_ *= extents_[d];
      is_whole_ = is_whole_ && extents_[d] == y[d];
    }
  }

  int64_t element_count() const { return element_count_; }

  // Which element of y an index in [0, element_count()) is.
  int64_t PlaceOf(int64_t index) const {
    if (is_whole_) return index;
    int64_t place = 0;
    int64_t stride = 1;
    for (int d = y_.rank() - 1; d >= 0; --d) {
      place += index % extents_[d] * stride;
      index /= extents_[d];
      stride *= y_[d];
    }
    return place;
  }

 private:
  const Shape& y_;
  std::array<int64_t, kMaxRank> extents_;
  int64_t element_count_ = 1;
  bool is_whole_ = true;
};

}  // namespace

template <int kElementBytes>
absl::Status RunMaxUnpool(const KernelCall& call) {
  using T = ElementOf<kElementBytes>;
  const T* x = call.input<T>(0);
  const int64_t* indices = call.input<int64_t>(1);
  T* y = call.output<T>(0);
  const Pooled pooled(std::get<PoolParams>(call.params),
                      call.input_layout(0).shape, call.output_layout(0).shape);
  const int64_t inputs = call.input_layout(0).shape.element_count();
  const int64_t outputs = call.output_layout(0).shape.element_count();
  if (outputs > 0) std::memset(y, 0, outputs * sizeof(T));
  // One after the other, since two may go to the same place.
  for (int64_t i = 0; i < inputs; ++i) {
    if (indices[i] < 0 || indices[i] >= pooled.element_count()) {
      return absl::InvalidArgumentError(
          absl::StrCat("index ", indices[i], " at ", i, " is outside [0, ",
                       pooled.element_count(), ")"));
    }
    y[pooled.PlaceOf(indices[i])] = x[i];
  }
  return absl::OkStatus();
}

template absl::Status RunMaxUnpool<2>(const KernelCall&);
template absl::Status RunMaxUnpool<4>(const KernelCall&);
template absl::Status RunMaxUnpool<8>(const KernelCall&);

}  // namespace tensord
