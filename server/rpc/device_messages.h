#ifndef TENSORD_SERVER_RPC_DEVICE_MESSAGES_H_
#define TENSORD_SERVER_RPC_DEVICE_MESSAGES_H_

#include <optional>
#include <vector>

#include "engine/compiled/kernel_binding_table.h"
#include "engine/engine.h"
#include "server/rpc/drain_reasons.h"
#include "tensord/v1/device_service.pb.h"

namespace tensord {

// Devices and kernels as the API's messages.
// Threading: thread-safe.

void FillDevice(const DeviceStatus& status, const DrainReasons& reasons,
                v1::Device& device);

// The rows that pass the filters, by op, backend and order among siblings.
struct KernelFilter {
  std::optional<OpKind> op;
  std::optional<BackendId> backend;
  DType dtype = DType::kUndefined;  // kUndefined: all
};
std::vector<v1::Kernel> ListKernelRows(const KernelBindingTable& table,
                                       const KernelFilter& filter);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_DEVICE_MESSAGES_H_
