#ifndef TENSORD_BACKENDS_CPU_KERNELS_HOST_SCALAR_H_
#define TENSORD_BACKENDS_CPU_KERNELS_HOST_SCALAR_H_

#include <cstdint>
#include <cstring>

#include "backends/api/kernel.h"

namespace tensord {

// The one element of input i, which is int32 or int64 and known before the run
// (host_constant(i) is not null).
inline int64_t HostInteger(const NodeSite& site, int i) {
  if (site.input_dtype(i) == DType::kInt32) {
    int32_t value;
    std::memcpy(&value, site.host_constant(i), sizeof(value));
    return value;
  }
  int64_t value;
  std::memcpy(&value, site.host_constant(i), sizeof(value));
  return value;
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_HOST_SCALAR_H_
