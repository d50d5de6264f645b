// Cast and CastLike between the dtypes that C++ can compute with; BitCast.
//
//   y[i] = x[i] in y's dtype, as convert.h says
//   y[i] = the bits of x[i]                              (BitCast)
//
// x and y are contiguous and have the same shape. y is another buffer, but
// BitCast's may be x's. CastLike's second input, which says the dtype, is not
// read. A bool in memory is 0 or 1, so BitCast to bool refuses other bytes with
// kInvalidArgument.

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "backends/api/host_services.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/convert.h"

namespace tensord {
namespace {

constexpr int64_t kGrain = 16 * 1024;

}  // namespace

template <typename From, typename To>
absl::Status RunCast(const KernelCall& call) {
  const From* x = call.input<From>(0);
  To* y = call.output<To>(0);
  call.context.workers->ParallelFor(call.output_layout(0).shape.element_count(),
                                    kGrain, [=](int64_t begin, int64_t end) {
                                      for (int64_t i = begin; i < end; ++i)
                                        y[i] = Convert<To>(x[i]);
                                    });
  return absl::OkStatus();
}

absl::Status RunBitCast(const KernelCall& call) {
  const DType to = std::get<CastParams>(call.params).to;
  const uint64_t size =
      ByteSize(to, call.output_layout(0).shape.element_count());
  const auto* x = reinterpret_cast<const uint8_t*>(call.inputs[0].address());
  auto* y = reinterpret_cast<uint8_t*>(call.outputs[0].address());
  if (to == DType::kBool) {
    const uint8_t* end = x + size;
    const uint8_t* other =
        std::find_if(x, end, [](uint8_t byte) { return byte > 1; });
    if (other != end) {
      return absl::InvalidArgumentError(absl::StrCat("element ", other - x,
                                                     " is ", int{*other},
                                                     ", and a bool is 0 or 1"));
    }
  }
  if (size != 0 && x != y) std::memcpy(y, x, size);
  return absl::OkStatus();
}

#define TENSORD_INSTANTIATE_TO(From, To) \
  template absl::Status RunCast<From, To>(const KernelCall&);
#define TENSORD_INSTANTIATE(From)        \
  TENSORD_INSTANTIATE_TO(From, float)    \
  TENSORD_INSTANTIATE_TO(From, double)   \
  TENSORD_INSTANTIATE_TO(From, Float16)  \
  TENSORD_INSTANTIATE_TO(From, BFloat16) \
  TENSORD_INSTANTIATE_TO(From, int8_t)   \
  TENSORD_INSTANTIATE_TO(From, int16_t)  \
  TENSORD_INSTANTIATE_TO(From, int32_t)  \
  TENSORD_INSTANTIATE_TO(From, int64_t)  \
  TENSORD_INSTANTIATE_TO(From, uint8_t)  \
  TENSORD_INSTANTIATE_TO(From, uint16_t) \
  TENSORD_INSTANTIATE_TO(From, uint32_t) \
  TENSORD_INSTANTIATE_TO(From, uint64_t) \
  TENSORD_INSTANTIATE_TO(From, bool)

TENSORD_INSTANTIATE(float)
TENSORD_INSTANTIATE(double)
TENSORD_INSTANTIATE(Float16)
TENSORD_INSTANTIATE(BFloat16)
TENSORD_INSTANTIATE(int8_t)
TENSORD_INSTANTIATE(int16_t)
TENSORD_INSTANTIATE(int32_t)
TENSORD_INSTANTIATE(int64_t)
TENSORD_INSTANTIATE(uint8_t)
TENSORD_INSTANTIATE(uint16_t)
TENSORD_INSTANTIATE(uint32_t)
TENSORD_INSTANTIATE(uint64_t)
TENSORD_INSTANTIATE(bool)

}  // namespace tensord
