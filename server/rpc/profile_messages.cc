#include "server/rpc/profile_messages.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "engine/profile/duration_buckets.h"
#include "server/errors/error_details.h"
#include "server/rpc/time_messages.h"

namespace tensord {
namespace {

using Histogram = v1::DurationHistogram;

void FillHistogram(const op_profile::DurationHistogram& durations,
                   Histogram& message) {
  message.set_sample_count(static_cast<int64_t>(durations.count()));
  message.set_total_ns(static_cast<int64_t>(durations.sum_ns));
  for (uint64_t count : durations.counts) {
    message.add_bucket_counts(static_cast<int64_t>(count));
  }
}

v1::OpProfileMode ModeOf(op_profile::Mode mode) {
  switch (mode) {
    case op_profile::Mode::kOff:
      return v1::OP_PROFILE_MODE_OFF;
    case op_profile::Mode::kSampled:
      return v1::OP_PROFILE_MODE_SAMPLED;
    case op_profile::Mode::kFull:
      return v1::OP_PROFILE_MODE_FULL;
  }
  return v1::OP_PROFILE_MODE_UNSPECIFIED;
}

void FillRows(const op_profile::ProfileSnapshot& snapshot,
              v1::OpProfile& profile) {
  std::map<std::pair<op_profile::OpLabel, BackendId>, v1::OpProfileRow> rows;
  const auto row_of = [&](op_profile::OpLabel op,
                          BackendId backend) -> v1::OpProfileRow& {
    v1::OpProfileRow& row = rows[{op, backend}];
    row.set_op(std::string(op.name()));
    row.set_backend(std::string(BackendName(backend)));
    return row;
  };
  for (const op_profile::OpRow& op : snapshot.ops) {
    v1::OpProfileRow& row = row_of(op.op, op.device.backend);
    row.set_launch_count(row.launch_count() +
                         static_cast<int64_t>(op.launches));
    row.set_error_count(row.error_count() + static_cast<int64_t>(op.errors));
    row.set_size_bytes(row.size_bytes() + static_cast<int64_t>(op.bytes));
    v1::DeviceLaunches& device = *row.add_devices();
    device.set_device(op.device.ToString());
    device.set_launch_count(static_cast<int64_t>(op.launches));
    device.set_error_count(static_cast<int64_t>(op.errors));
    device.set_size_bytes(static_cast<int64_t>(op.bytes));
  }
  for (const op_profile::DurationRow& durations : snapshot.durations) {
    v1::OpProfileRow& row = row_of(durations.op, durations.backend);
    FillHistogram(durations.host, *row.mutable_host_time());
    if (durations.device.count() > 0) {
      FillHistogram(durations.device, *row.mutable_device_time());
    }
  }
  for (auto& [key, row] : rows) *profile.add_rows() = std::move(row);
}

// The API's orders: rows by time, kernels by count.
void Sort(v1::OpProfile& profile) {
  std::stable_sort(profile.mutable_rows()->begin(),
                   profile.mutable_rows()->end(),
                   [](const v1::OpProfileRow& a, const v1::OpProfileRow& b) {
                     return a.host_time().total_ns() > b.host_time().total_ns();
                   });
  std::stable_sort(
      profile.mutable_kernels()->begin(), profile.mutable_kernels()->end(),
      [](const v1::KernelProfileRow& a, const v1::KernelProfileRow& b) {
        return a.launch_count() > b.launch_count();
      });
}

std::string KeyOf(const v1::OpProfileRow& row) {
  return absl::StrCat(row.op(), "\n", row.backend());
}
std::string KeyOf(const v1::KernelProfileRow& row) {
  return absl::StrCat(row.op(), "\n", row.backend(), "\n", row.kernel(), "\n",
                      row.dtype());
}
std::string KeyOf(const v1::PhaseProfileRow& row) {
  return absl::StrCat(row.phase(), "\n", row.backend());
}
std::string KeyOf(const v1::DeviceLaunches& row) { return row.device(); }

// Each returns false when something is less than it was: counters only grow.
bool SubtractNumber(int64_t since, int64_t& now) {
  if (since < 0 || since > now) return false;
  now -= since;
  return true;
}

bool SubtractRow(const Histogram& since, Histogram& now) {
  if (since.bucket_counts_size() == 0) return since.sample_count() == 0;
  if (since.bucket_counts_size() != now.bucket_counts_size()) return false;
  int64_t samples = now.sample_count(), total = now.total_ns();
  bool ok = SubtractNumber(since.sample_count(), samples) &&
            SubtractNumber(since.total_ns(), total);
  for (int i = 0; ok && i < now.bucket_counts_size(); ++i) {
    int64_t count = now.bucket_counts(i);
    ok = SubtractNumber(since.bucket_counts(i), count);
    now.set_bucket_counts(i, count);
  }
  now.set_sample_count(samples);
  now.set_total_ns(total);
  return ok;
}

template <typename Row>
bool SubtractCounts(const Row& since, Row& now) {
  int64_t launches = now.launch_count(), errors = now.error_count(),
          bytes = now.size_bytes();
  const bool ok = SubtractNumber(since.launch_count(), launches) &&
                  SubtractNumber(since.error_count(), errors) &&
                  SubtractNumber(since.size_bytes(), bytes);
  now.set_launch_count(launches);
  now.set_error_count(errors);
  now.set_size_bytes(bytes);
  return ok;
}

template <typename Row>
bool SubtractRows(const google::protobuf::RepeatedPtrField<Row>& since,
                  google::protobuf::RepeatedPtrField<Row>& now);

bool SubtractRow(const v1::DeviceLaunches& since, v1::DeviceLaunches& now) {
  return SubtractCounts(since, now);
}
bool SubtractRow(const v1::OpProfileRow& since, v1::OpProfileRow& now) {
  bool ok = SubtractCounts(since, now) &&
            SubtractRows(since.devices(), *now.mutable_devices());
  if (since.has_host_time()) {
    ok = ok && SubtractRow(since.host_time(), *now.mutable_host_time());
  }
  if (since.has_device_time()) {
    ok = ok && SubtractRow(since.device_time(), *now.mutable_device_time());
  }
  return ok;
}
bool SubtractRow(const v1::KernelProfileRow& since, v1::KernelProfileRow& now) {
  int64_t launches = now.launch_count();
  const bool ok = SubtractNumber(since.launch_count(), launches);
  now.set_launch_count(launches);
  return ok;
}
bool SubtractRow(const v1::PhaseProfileRow& since, v1::PhaseProfileRow& now) {
  return SubtractRow(since.host_time(), *now.mutable_host_time());
}

template <typename Row>
bool SubtractRows(const google::protobuf::RepeatedPtrField<Row>& since,
                  google::protobuf::RepeatedPtrField<Row>& now) {
  absl::flat_hash_map<std::string, Row*> by_key;
  for (Row& row : now) by_key[KeyOf(row)] = &row;
  for (const Row& row : since) {
    const auto found = by_key.find(KeyOf(row));
    if (found == by_key.end() || found->second == nullptr) return false;
    if (!SubtractRow(row, *found->second)) return false;
    found->second = nullptr;  // a second one would be subtracted twice
  }
  return true;
}

bool IsEmpty(const v1::OpProfileRow& row) {
  return row.launch_count() == 0 && row.host_time().sample_count() == 0;
}
bool IsEmpty(const v1::DeviceLaunches& row) { return row.launch_count() == 0; }
bool IsEmpty(const v1::KernelProfileRow& row) {
  return row.launch_count() == 0;
}
bool IsEmpty(const v1::PhaseProfileRow& row) {
  return row.host_time().sample_count() == 0;
}

template <typename Row>
void DropEmpty(google::protobuf::RepeatedPtrField<Row>& rows) {
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [](const Row& row) { return IsEmpty(row); }),
             rows.end());
}

}  // namespace

void FillConfig(const op_profile::ProfileConfig& config, uint64_t epoch,
                absl::Time epoch_start, v1::OpProfileConfig& message) {
  message.set_mode(ModeOf(config.mode));
  message.set_sample_every(static_cast<int32_t>(config.sample_every));
  message.set_epoch(static_cast<int64_t>(epoch));
  FillTime(epoch_start, *message.mutable_epoch_start_time());
}

void FillOpProfile(const op_profile::ProfileSnapshot& snapshot,
                   const std::vector<op_profile::PhaseRow>& phases,
                   bool omit_kernels, bool omit_phases,
                   v1::OpProfile& profile) {
  FillConfig(snapshot.config, snapshot.epoch, snapshot.epoch_start,
             *profile.mutable_config());
  FillTime(snapshot.taken_at, *profile.mutable_end_time());
  for (uint64_t edge_ns : op_profile::kDurationEdgesNs) {
    profile.add_bucket_bounds_ns(static_cast<int64_t>(edge_ns));
  }
  FillRows(snapshot, profile);
  if (!omit_kernels) {
    for (const op_profile::KernelRow& kernel : snapshot.kernels) {
      v1::KernelProfileRow& row = *profile.add_kernels();
      row.set_op(std::string(kernel.op.name()));
      row.set_backend(std::string(BackendName(kernel.backend)));
      row.set_kernel(kernel.kernel);
      row.set_dtype(std::string(DTypeName(kernel.dtype)));
      row.set_launch_count(static_cast<int64_t>(kernel.launches));
    }
  }
  if (!omit_phases) {
    for (const op_profile::PhaseRow& phase : phases) {
      v1::PhaseProfileRow& row = *profile.add_phases();
      row.set_phase(std::string(op_profile::PhaseName(phase.phase)));
      if (phase.backend.has_value()) {
        row.set_backend(std::string(BackendName(*phase.backend)));
      }
      FillHistogram(phase.durations, *row.mutable_host_time());
    }
  }
  Sort(profile);
}

absl::Status Subtract(const v1::OpProfile& since, v1::OpProfile& profile) {
  if (!SubtractRows(since.rows(), *profile.mutable_rows()) ||
      !SubtractRows(since.kernels(), *profile.mutable_kernels()) ||
      !SubtractRows(since.phases(), *profile.mutable_phases())) {
    return BadField("since",
                    "it has more than has been accounted, so it is not an "
                    "earlier answer of this call with the same omit_ fields");
  }
  profile.set_spans_epochs(since.config().epoch() != profile.config().epoch());
  *profile.mutable_start_time() = since.end_time();
  for (v1::OpProfileRow& row : *profile.mutable_rows()) {
    DropEmpty(*row.mutable_devices());
  }
  DropEmpty(*profile.mutable_rows());
  DropEmpty(*profile.mutable_kernels());
  DropEmpty(*profile.mutable_phases());
  Sort(profile);
  return absl::OkStatus();
}

}  // namespace tensord
