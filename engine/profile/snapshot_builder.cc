#include "engine/profile/snapshot_builder.h"

#include <utility>

namespace tensord::op_profile {

void SnapshotBuilder::Add(DeviceId device, const SlotIdentity& id,
                          const SlotTotals& totals) {
  OpRow& op = ops_.try_emplace({id.op, device.backend, device.ordinal},
                               OpRow{id.op, device})
                  .first->second;
  op.launches += totals.launches;
  op.errors += totals.errors;
  op.bytes += totals.bytes;

  if (!id.op.is_program_replay()) {
    KernelRow& kernel =
        kernels_
            .try_emplace({id.op, id.backend, id.kernel, id.dtype},
                         KernelRow{id.op, id.backend, id.kernel, id.dtype})
            .first->second;
    kernel.launches += totals.launches;
  }

  DurationHistogram& host = Durations(id.op, id.backend).host;
  for (size_t i = 0; i < host.counts.size(); ++i) {
    host.counts[i] += totals.host_buckets[i];
  }
  host.sum_ns += totals.host_ticks;
}

void SnapshotBuilder::AddDeviceDurations(OpLabel op, BackendId backend,
                                         const DurationHistogram& durations) {
  Durations(op, backend).device = durations;
}

DurationRow& SnapshotBuilder::Durations(OpLabel op, BackendId backend) {
  return durations_.try_emplace({op, backend}, DurationRow{op, backend, {}, {}})
      .first->second;
}

void SnapshotBuilder::Finish(const TickClock& clock,
                             ProfileSnapshot& snapshot) && {
  for (auto& [identity, row] : ops_) snapshot.ops.push_back(row);
  for (auto& [identity, row] : kernels_) {
    snapshot.kernels.push_back(std::move(row));
  }
  for (auto& [identity, row] : durations_) {
    if (row.host.count() == 0 && row.device.count() == 0) continue;
    row.host.sum_ns = clock.ToNs(row.host.sum_ns);
    snapshot.durations.push_back(row);
  }
}

}  // namespace tensord::op_profile
