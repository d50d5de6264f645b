#include "server/metrics/profile_metrics.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace tensord::metrics {
namespace {

using op_profile::DurationHistogram;

void Accumulate(const DurationHistogram& from, DurationHistogram& to) {
  for (size_t i = 0; i < to.counts.size(); ++i) to.counts[i] += from.counts[i];
  to.sum_ns += from.sum_ns;
}

void CollectOps(const std::vector<op_profile::OpRow>& rows,
                SeriesBudget& budget, Page& page) {
  struct Part {
    MetricId id;
    uint64_t op_profile::OpRow::*value;
  };
  for (const Part& part :
       {Part{MetricId::kOpLaunches, &op_profile::OpRow::launches},
        Part{MetricId::kOpErrors, &op_profile::OpRow::errors},
        Part{MetricId::kOpBytes, &op_profile::OpRow::bytes}}) {
    std::map<std::string, std::pair<BackendId, uint64_t>> folded;
    for (const op_profile::OpRow& row : rows) {
      const std::string device = row.device.ToString();
      if (page.Add(part.id,
                   {row.op.name(), BackendName(row.device.backend), device},
                   static_cast<double>(row.*part.value), &budget)) {
        continue;
      }
      auto& [backend, sum] = folded[device];
      backend = row.device.backend;
      sum += row.*part.value;
    }
    for (const auto& [device, row] : folded) {
      page.Add(part.id, {kOtherLabel, BackendName(row.first), device},
               static_cast<double>(row.second));
    }
  }
}

void CollectDurations(const std::vector<op_profile::DurationRow>& rows,
                      SeriesBudget& budget, Page& page) {
  struct Part {
    MetricId id;
    DurationHistogram op_profile::DurationRow::*durations;
  };
  for (const Part& part :
       {Part{MetricId::kOpHostDuration, &op_profile::DurationRow::host},
        Part{MetricId::kOpDeviceDuration, &op_profile::DurationRow::device}}) {
    std::map<BackendId, DurationHistogram> folded;
    for (const op_profile::DurationRow& row : rows) {
      const DurationHistogram& durations = row.*part.durations;
      if (durations.count() == 0) continue;
      if (page.Add(part.id, {row.op.name(), BackendName(row.backend)},
                   durations, &budget)) {
        continue;
      }
      Accumulate(durations, folded[row.backend]);
    }
    for (const auto& [backend, durations] : folded) {
      page.Add(part.id, {kOtherLabel, BackendName(backend)}, durations);
    }
  }
}

void CollectKernels(const std::vector<op_profile::KernelRow>& rows,
                    SeriesBudget& budget, Page& page) {
  std::map<BackendId, uint64_t> folded;
  for (const op_profile::KernelRow& row : rows) {
    // The shared slot of kernels past the table's bound has no dtype.
    const absl::string_view dtype =
        row.dtype == DType::kUndefined ? kOtherLabel : DTypeName(row.dtype);
    if (page.Add(MetricId::kKernelLaunches,
                 {row.op.name(), BackendName(row.backend), row.kernel, dtype},
                 static_cast<double>(row.launches), &budget)) {
      continue;
    }
    folded[row.backend] += row.launches;
  }
  for (const auto& [backend, launches] : folded) {
    page.Add(MetricId::kKernelLaunches,
             {kOtherLabel, BackendName(backend), kOtherLabel, kOtherLabel},
             static_cast<double>(launches));
  }
}

double SampleEvery(const op_profile::ProfileConfig& config) {
  switch (config.mode) {
    case op_profile::Mode::kOff:
      return 0;
    case op_profile::Mode::kSampled:
      return config.sample_every;
    case op_profile::Mode::kFull:
      return 1;
  }
  return 0;
}

}  // namespace

void CollectProfile(const op_profile::ProfileSnapshot& snapshot,
                    SeriesBudget& budget, Page& page) {
  // Operators before kernels: when the page fills up, they are what to keep.
  CollectOps(snapshot.ops, budget, page);
  CollectDurations(snapshot.durations, budget, page);
  CollectKernels(snapshot.kernels, budget, page);
  page.Add(MetricId::kOpProfileSampleEvery, {}, SampleEvery(snapshot.config));
  page.Add(MetricId::kOpProfileEpoch, {}, static_cast<double>(snapshot.epoch));
}

void CollectPhases(const std::vector<op_profile::PhaseRow>& phases,
                   Page& page) {
  for (const op_profile::PhaseRow& row : phases) {
    page.Add(MetricId::kExecutionPhaseDuration,
             {op_profile::PhaseName(row.phase),
              row.backend.has_value() ? BackendName(*row.backend) : "none"},
             row.durations);
  }
}

}  // namespace tensord::metrics
