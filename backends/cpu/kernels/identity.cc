#include "backends/cpu/kernels/identity.h"

#include <cstring>

namespace tensord {

absl::Status AcceptsIdentity(const NodeSite& site) {
  if (site.input_dtype(0) == DType::kString) {
    return absl::UnimplementedError("strings have no bytes on a device");
  }
  return absl::OkStatus();
}

absl::Status IdentityRun(const KernelCall& call) {
  const StorageView source = call.inputs[0];
  const StorageView destination = call.outputs[0];
  if (source.size_bytes != 0 && source.address() != destination.address()) {
    std::memcpy(destination.address(), source.address(), source.size_bytes);
  }
  return absl::OkStatus();
}

}  // namespace tensord
