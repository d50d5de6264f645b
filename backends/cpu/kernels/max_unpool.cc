// MaxUnpool: elements go where the maxima of a MaxPool were, the rest is 0.
//
//   y[indices[i]] = x[i], both seen as one line; of equal indices the last wins
//
// x and indices (int64) are contiguous and have the same shape; y is another
// buffer. Elements are copied as bytes. Indices outside y are kInvalidArgument.

#include <cstdint>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/element.h"

namespace tensord {

template <int kElementBytes>
absl::Status RunMaxUnpool(const KernelCall& call) {
  using T = ElementOf<kElementBytes>;
  const T* x = call.input<T>(0);
  const int64_t* indices = call.input<int64_t>(1);
  T* y = call.output<T>(0);
  const int64_t inputs = call.input_layout(0).shape.element_count();
  const int64_t outputs = call.output_layout(0).shape.element_count();
  if (outputs > 0) std::memset(y, 0, outputs * sizeof(T));
  // One after the other, since two may go to the same place.
  for (int64_t i = 0; i < inputs; ++i) {
    if (indices[i] < 0 || indices[i] >= outputs) {
      return absl::InvalidArgumentError(absl::StrCat(
          "index ", indices[i], " at ", i, " is outside [0, ", outputs, ")"));
    }
    y[indices[i]] = x[i];
  }
  return absl::OkStatus();
}

template absl::Status RunMaxUnpool<2>(const KernelCall&);
template absl::Status RunMaxUnpool<4>(const KernelCall&);
template absl::Status RunMaxUnpool<8>(const KernelCall&);

}  // namespace tensord
