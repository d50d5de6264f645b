#include "engine/profile/profile_snapshot.h"

#include <algorithm>
#include <tuple>

namespace tensord::op_profile {
namespace {

auto Identity(const OpRow& row) {
  return std::tuple(row.op, row.device.backend, row.device.ordinal);
}
auto Identity(const KernelRow& row) {
  return std::tie(row.op, row.backend, row.kernel, row.dtype);
}
auto Identity(const DurationRow& row) {
  return std::tuple(row.op, row.backend);
}

// Rows of one profile never fall; of two profiles they may, and a difference
// of 2^64 would help nobody.
void Subtract(uint64_t& newer, uint64_t older) {
  newer -= std::min(newer, older);
}

void Subtract(DurationHistogram& newer, const DurationHistogram& older) {
  for (size_t i = 0; i < newer.counts.size(); ++i) {
    Subtract(newer.counts[i], older.counts[i]);
  }
  Subtract(newer.sum_ns, older.sum_ns);
}

void Subtract(OpRow& newer, const OpRow& older) {
  Subtract(newer.launches, older.launches);
  Subtract(newer.errors, older.errors);
  Subtract(newer.bytes, older.bytes);
}
void Subtract(KernelRow& newer, const KernelRow& older) {
  Subtract(newer.launches, older.launches);
}
void Subtract(DurationRow& newer, const DurationRow& older) {
  Subtract(newer.host, older.host);
  Subtract(newer.device, older.device);
}

bool IsZero(const OpRow& row) { return row.launches == 0 && row.errors == 0; }
bool IsZero(const KernelRow& row) { return row.launches == 0; }
bool IsZero(const DurationRow& row) {
  return row.host.count() == 0 && row.device.count() == 0;
}

// Both are ordered by identity.
template <typename Row>
std::vector<Row> SubtractRows(const std::vector<Row>& newer,
                              const std::vector<Row>& older) {
  std::vector<Row> result;
  auto old = older.begin();
  for (Row row : newer) {
    while (old != older.end() && Identity(*old) < Identity(row)) ++old;
    if (old != older.end() && Identity(*old) == Identity(row)) {
      Subtract(row, *old);
    }
    if (!IsZero(row)) result.push_back(std::move(row));
  }
  return result;
}

}  // namespace

absl::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kOff:
      return "off";
    case Mode::kSampled:
      return "sampled";
    case Mode::kFull:
      return "full";
  }
  return "off";
}

uint64_t ProfileSnapshot::launches() const {
  uint64_t total = 0;
  for (const OpRow& row : ops) {
    if (!row.op.is_program_replay()) total += row.launches;
  }
  return total;
}

ProfileDifference Difference(const ProfileSnapshot& newer,
                             const ProfileSnapshot& older) {
  ProfileDifference difference;
  difference.added.config = newer.config;
  difference.added.epoch = newer.epoch;
  difference.added.epoch_start = newer.epoch_start;
  difference.added.taken_at = newer.taken_at;
  difference.added.ops = SubtractRows(newer.ops, older.ops);
  difference.added.kernels = SubtractRows(newer.kernels, older.kernels);
  difference.added.durations = SubtractRows(newer.durations, older.durations);
  difference.elapsed = newer.taken_at - older.taken_at;
  difference.spans_epochs = newer.epoch != older.epoch;
  return difference;
}

}  // namespace tensord::op_profile
