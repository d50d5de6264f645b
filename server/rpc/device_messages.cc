#include "server/rpc/device_messages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include "absl/strings/str_format.h"
#include "backends/api/kernel.h"
#include "engine/graph/escape.h"

namespace tensord {
namespace {

v1::DeviceHealth HealthOf(const DeviceStatus& status) {
  if (status.is_draining) {
    const bool is_empty = status.in_flight == 0 && status.queue_depth == 0;
    return is_empty ? v1::DEVICE_HEALTH_DRAINED : v1::DEVICE_HEALTH_DRAINING;
  }
  return status.health.ok() ? v1::DEVICE_HEALTH_HEALTHY
                            : v1::DEVICE_HEALTH_QUARANTINED;
}

void FillSignature(const DTypeSignature& signature,
                   v1::DTypeSignature& message) {
  message.set_any(signature.any);
  if (signature.any) return;
  for (int i = 0; i < signature.input_count; ++i) {
    message.add_inputs(static_cast<v1::DType>(signature.inputs[i]));
  }
  for (int i = 0; i < signature.output_count; ++i) {
    message.add_outputs(static_cast<v1::DType>(signature.outputs[i]));
  }
}

bool Takes(const DTypeSignature& signature, DType dtype) {
  if (signature.any) return true;
  const auto has = [dtype](const auto& dtypes, int count) {
    return std::find(dtypes.begin(), dtypes.begin() + count, dtype) !=
           dtypes.begin() + count;
  };
  return has(signature.inputs, signature.input_count) ||
         has(signature.outputs, signature.output_count);
}

// Kernels of one op, backend and dtypes are siblings.
std::string SiblingKey(const v1::Kernel& kernel) {
  return kernel.op() + "\n" + kernel.backend() + "\n" +
         kernel.dtypes().SerializeAsString();
}

void NumberSiblings(std::vector<v1::Kernel>& kernels) {
  absl::flat_hash_map<std::string, int> counts;
  for (v1::Kernel& kernel : kernels) {
    kernel.set_sibling_index(counts[SiblingKey(kernel)]++);
  }
  for (v1::Kernel& kernel : kernels) {
    kernel.set_sibling_count(counts[SiblingKey(kernel)]);
  }
}

}  // namespace

void FillDevice(const DeviceStatus& status, const DrainReasons& reasons,
                v1::Device& device) {
  const DeviceInfo& info = status.info;
  device.set_name(info.id.ToString());
  device.set_backend(std::string(BackendName(info.id.backend)));
  device.set_ordinal(info.id.ordinal);
  device.set_description(info.description);
  device.set_uuid(info.uuid);
  device.set_health(HealthOf(status));
  if (status.is_draining) {
    device.set_health_reason(Escape(reasons.ReasonOf(info.id)));
  } else if (!status.health.ok()) {
    device.set_health_reason(std::string(status.health.message()));
  }
  device.set_memory_total_bytes(static_cast<int64_t>(info.memory_limit_bytes));
  device.set_memory_used_bytes(static_cast<int64_t>(status.allocated_bytes));
  device.set_memory_limit_bytes(static_cast<int64_t>(info.memory_limit_bytes));
  device.set_lane_count(status.lane_count);
  device.set_in_flight_count(status.in_flight);
  device.set_queue_depth(status.queue_depth);
  device.set_queued_bytes(static_cast<int64_t>(status.queued_bytes));
  device.set_completed_count(static_cast<int64_t>(status.completed));
  device.set_failed_count(static_cast<int64_t>(status.failed));
  device.set_is_synchronous(info.is_synchronous);
  device.set_has_timestamps(info.has_timestamps);
  device.set_weight_bytes(static_cast<int64_t>(status.weight_bytes));
  device.set_fault_count(static_cast<int64_t>(status.faults));
}

std::vector<v1::Kernel> ListKernelRows(const KernelBindingTable& table,
                                       const KernelFilter& filter) {
  std::vector<std::pair<KernelBinding, v1::Kernel>> rows;
  table.ForEach([&](const KernelBinding& binding) {
    v1::Kernel kernel;
    const KernelEntry& entry = *binding.entry;
    kernel.set_op(std::string(OpKindName(entry.op)));
    FillSignature(entry.dtypes, *kernel.mutable_dtypes());
    kernel.set_backend(std::string(BackendName(binding.backend)));
    kernel.set_name(entry.name);
    kernel.set_source(entry.source == nullptr ? "" : entry.source);
    if (binding.revision_hash != 0) {
      kernel.set_revision_hash(absl::StrFormat("%016x", binding.revision_hash));
    }
    kernel.set_is_deterministic(entry.caps.is_deterministic);
    kernel.set_takes_strided_input(entry.caps.strided_input);
    rows.emplace_back(binding, std::move(kernel));
  });
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return std::make_tuple(a.second.op(), a.first.backend) <
           std::make_tuple(b.second.op(), b.first.backend);
  });
  // Numbered before the filter, so that a sibling keeps its number.
  std::vector<v1::Kernel> all;
  for (auto& row : rows) all.push_back(std::move(row.second));
  NumberSiblings(all);
  std::vector<v1::Kernel> kernels;
  for (size_t i = 0; i < all.size(); ++i) {
    const KernelBinding& binding = rows[i].first;
    if (filter.op.has_value() && binding.entry->op != *filter.op) continue;
    if (filter.backend.has_value() && binding.backend != *filter.backend) {
      continue;
    }
    if (filter.dtype != DType::kUndefined &&
        !Takes(binding.entry->dtypes, filter.dtype)) {
      continue;
    }
    kernels.push_back(std::move(all[i]));
  }
  return kernels;
}

}  // namespace tensord
