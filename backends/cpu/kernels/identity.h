#ifndef TENSORD_BACKENDS_CPU_KERNELS_IDENTITY_H_
#define TENSORD_BACKENDS_CPU_KERNELS_IDENTITY_H_

#include "absl/status/status.h"
#include "backends/api/kernel.h"

namespace tensord {

// y = x, byte for byte. x and y are dense and of one dtype and shape; they may
// be the same buffer.
absl::Status AcceptsIdentity(const NodeSite& site);
absl::Status IdentityRun(const KernelCall& call);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_KERNELS_IDENTITY_H_
