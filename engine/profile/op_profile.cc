#include "engine/profile/op_profile.h"

#include <algorithm>
#include <utility>

#include "absl/memory/memory.h"

namespace tensord::op_profile {
namespace {

size_t DurationRowIndex(OpLabel op, BackendId backend) {
  return op.index() * kBackendCount + static_cast<size_t>(backend);
}

}  // namespace

OpProfile::OpProfile()
    : clock_(TickClock::Get()),
      device_durations_(OpLabel::kCount * kBackendCount),
      epoch_start_(absl::Now()) {}

OpProfile::~OpProfile() = default;

absl::Status OpProfile::Configure(const ProfileConfig& config) {
  if (config.mode == Mode::kSampled && config.sample_every == 0) {
    return absl::InvalidArgumentError(
        "op_profile: sample_every is 0; it must be at least 1");
  }
  absl::MutexLock lock(&mu_);
  if (config.mode == config_.mode &&
      (config.mode != Mode::kSampled ||
       config.sample_every == config_.sample_every)) {
    return absl::OkStatus();
  }
  config_ = config;
  ++epoch_;
  epoch_start_ = absl::Now();
  const uint32_t sample_every = config.mode == Mode::kOff ? 0
                                : config.mode == Mode::kFull
                                    ? 1
                                    : config.sample_every;
  sample_every_.store(sample_every, std::memory_order_relaxed);
  return absl::OkStatus();
}

ProfileConfig OpProfile::config() const {
  absl::MutexLock lock(&mu_);
  return config_;
}

uint32_t OpProfile::SlotFor(OpLabel op, BackendId backend,
                            absl::string_view kernel, DType dtype) {
  absl::MutexLock lock(&mu_);
  const uint32_t slot = slots_.Intern(op, backend, kernel, dtype);
  for (Shard* shard : shards_) shard->Reserve(slots_.size());
  return slot;
}

SlotIdentity OpProfile::Describe(uint32_t slot) const {
  absl::MutexLock lock(&mu_);
  return slot < slots_.size() ? slots_.identity(slot) : SlotIdentity();
}

std::unique_ptr<Shard> OpProfile::CreateShard(DeviceId device) {
  absl::MutexLock lock(&mu_);
  auto shard = absl::WrapUnique(new Shard(*this, device, ++shards_created_));
  shard->Reserve(slots_.size());
  shards_.insert(shard.get());
  return shard;
}

std::unique_ptr<ProgramCounter> OpProfile::CreateProgram(
    DeviceId device, std::vector<ProgramLaunches> per_replay) {
  const uint32_t slot = SlotFor(OpLabel::ProgramReplay(), device.backend,
                                "program", DType::kUndefined);
  auto program = absl::WrapUnique(
      new ProgramCounter(*this, device, slot, std::move(per_replay)));
  absl::MutexLock lock(&mu_);
  programs_.insert(program.get());
  return program;
}

void OpProfile::AddDeviceDuration(OpLabel op, BackendId backend,
                                  uint64_t duration_ns) {
  device_durations_.Add(DurationRowIndex(op, backend), duration_ns);
}

void OpProfile::Add(const Shard& shard, Totals& totals) const {
  DeviceTotals& device_totals = totals[shard.device()];
  device_totals.resize(std::max<size_t>(device_totals.size(), slots_.size()));
  for (uint32_t slot = kNoSlot + 1; slot < slots_.size(); ++slot) {
    const SlotCounters& counters = shard.counters(slot);
    const uint64_t launches = counters.launches.Read();
    if (launches == 0) continue;
    SlotTotals& total = device_totals[slot];
    total.launches += launches;
    total.errors += counters.errors.Read();
    total.bytes += counters.bytes.Read();
    total.host_ticks += counters.host_ticks.Read();
    for (size_t i = 0; i < total.host_buckets.size(); ++i) {
      total.host_buckets[i] += counters.host_buckets[i].Read();
    }
  }
}

void OpProfile::Add(const ProgramCounter& program, Totals& totals) const {
  const uint64_t replays = program.replays();
  if (replays == 0) return;
  DeviceTotals& device_totals = totals[program.device_];
  device_totals.resize(std::max<size_t>(device_totals.size(), slots_.size()));
  for (const ProgramLaunches& each : program.per_replay_) {
    if (each.slot == kNoSlot || each.slot >= slots_.size()) continue;
    device_totals[each.slot].launches += replays * each.launches;
    device_totals[each.slot].bytes += replays * each.bytes;
  }
}

void OpProfile::Retire(Shard& shard) {
  absl::MutexLock lock(&mu_);
  Add(shard, retired_);
  shards_.erase(&shard);
}

void OpProfile::Retire(ProgramCounter& program) {
  absl::MutexLock lock(&mu_);
  Add(program, retired_);
  programs_.erase(&program);
}

ProfileSnapshot OpProfile::Snapshot() const {
  ProfileSnapshot snapshot;
  SnapshotBuilder builder;
  {
    absl::MutexLock lock(&mu_);
    snapshot.config = config_;
    snapshot.epoch = epoch_;
    snapshot.epoch_start = epoch_start_;
    snapshot.taken_at = absl::Now();
    Totals totals = retired_;
    for (const Shard* shard : shards_) Add(*shard, totals);
    for (const ProgramCounter* program : programs_) Add(*program, totals);
    for (const auto& [device, device_totals] : totals) {
      for (uint32_t slot = kNoSlot + 1; slot < device_totals.size(); ++slot) {
        if (device_totals[slot].launches == 0) continue;
        builder.Add(device, slots_.identity(slot), device_totals[slot]);
      }
    }
  }
  for (size_t row = 0; row < device_durations_.row_count(); ++row) {
    if (!device_durations_.IsUsed(row)) continue;
    builder.AddDeviceDurations(OpLabel::FromIndex(row / kBackendCount),
                               static_cast<BackendId>(row % kBackendCount),
                               ReadDurations(device_durations_, row));
  }
  std::move(builder).Finish(clock_, snapshot);
  return snapshot;
}

}  // namespace tensord::op_profile
