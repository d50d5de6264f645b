#include "engine/profile/shard.h"

#include "engine/profile/op_profile.h"

namespace tensord::op_profile {

Shard::Shard(OpProfile& profile, DeviceId device, uint64_t seed)
    : device_(device),
      clock_(profile.clock_),
      profile_(profile),
      random_state_(seed) {}

Shard::~Shard() {
  profile_.Retire(*this);
  for (auto& chunk : chunks_) delete chunk.load(std::memory_order_relaxed);
}

void Shard::AddDeviceDuration(OpLabel op, BackendId backend,
                              uint64_t duration_ns) {
  profile_.AddDeviceDuration(op, backend, duration_ns);
}

void Shard::Reserve(uint32_t slot_count) {
  for (uint32_t i = 0; i * kSlotsPerChunk < slot_count; ++i) {
    if (chunks_[i].load(std::memory_order_relaxed) != nullptr) continue;
    chunks_[i].store(new Chunk, std::memory_order_release);
  }
}

void Shard::Begin(TraceBuffer* trace) {
  const uint32_t sample_every =
      profile_.sample_every_.load(std::memory_order_relaxed);
  is_counting_ = sample_every != 0;
  is_sampled_ = is_counting_ && PickForSampling(sample_every);
  is_on_ = is_counting_ || trace != nullptr;
  nested_ticks_ = 0;
  trace_ = trace;
  if (trace == nullptr) return;
  trace->Clear();
  begin_ticks_ = clock_.Now();
}

void Shard::End() {
  is_on_ = false;
  is_counting_ = false;
  is_sampled_ = false;
  trace_ = nullptr;
}

bool Shard::PickForSampling(uint32_t sample_every) {
  if (sample_every == 1) return true;
  if (window_size_ != sample_every) {
    // The first execution of a lane is timed, so that somebody who tries one
    // request sees its times.
    window_size_ = sample_every;
    position_ = 0;
    picked_position_ = 0;
  }
  const bool is_picked = position_ == picked_position_;
  if (++position_ == window_size_) {
    position_ = 0;
    // splitmix64, by S. Vigna: one addition and mixing, from any seed.
    uint64_t z = (random_state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    picked_position_ = static_cast<uint32_t>((z ^ (z >> 31)) % window_size_);
  }
  return is_picked;
}

}  // namespace tensord::op_profile
