#include "bench/models/run_times.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "absl/strings/match.h"
#include "engine/graph/status_macros.h"

namespace tensord::bench {
namespace {

double Percentile(std::vector<int64_t> ns, double p) {
  if (ns.empty()) return 0;
  std::sort(ns.begin(), ns.end());
  const double place = p * static_cast<double>(ns.size() - 1);
  const auto below = static_cast<size_t>(std::floor(place));
  const auto above = static_cast<size_t>(std::ceil(place));
  const double share = place - std::floor(place);
  return (1 - share) * static_cast<double>(ns[below]) +
         share * static_cast<double>(ns[above]);
}

int64_t ProcessCpuNs() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto ns = [](const timeval& time) {
    return (int64_t{1'000'000} * time.tv_sec + time.tv_usec) * 1000;
  };
  return ns(usage.ru_utime) + ns(usage.ru_stime);
}

// Rounds for so long, and at least so many.
template <typename Record>
absl::Status RunRounds(int set_count, absl::Duration length, int min_rounds,
                       absl::FunctionRef<absl::StatusOr<int64_t>(int)> run,
                       Record record) {
  const int64_t end = NowNs() + absl::ToInt64Nanoseconds(length);
  for (int round = 0; round < min_rounds || NowNs() < end; ++round) {
    for (int set = 0; set < set_count; ++set) {
      TENSORD_ASSIGN_OR_RETURN(const int64_t ns, run(set));
      record(set, ns);
    }
  }
  return absl::OkStatus();
}

}  // namespace

double RunTimes::PercentileMs(double p) const {
  double sum = 0;
  for (const std::vector<int64_t>& ns : ns_) sum += Percentile(ns, p);
  return sum / 1e6 / static_cast<double>(ns_.size());
}

nlohmann::ordered_json RunTimes::ToJson() const {
  nlohmann::ordered_json json = {{"ms", PercentileMs(0.5)},
                                 {"p10_ms", PercentileMs(0.1)},
                                 {"p90_ms", PercentileMs(0.9)}};
  size_t runs = 0;
  for (const std::vector<int64_t>& ns : ns_) {
    json["set_ms"].push_back(Percentile(ns, 0.5) / 1e6);
    runs += ns.size();
  }
  json["runs"] = runs;
  json["cpu_ms"] = cpu_ns_ / 1e6 / static_cast<double>(runs);
  json["cores"] = cpu_ns_ / wall_ns_;
  return json;
}

absl::StatusOr<RunTimes> MeasureRuns(
    int set_count, const RunBudget& budget,
    absl::FunctionRef<absl::StatusOr<int64_t>(int set)> run) {
  TENSORD_RETURN_IF_ERROR(
      RunRounds(set_count, budget.warm_up, 1, run, [](int, int64_t) {}));
  RunTimes times(set_count);
  const int64_t start = NowNs();
  const int64_t cpu_start = ProcessCpuNs();
  TENSORD_RETURN_IF_ERROR(
      RunRounds(set_count, budget.measure, budget.min_rounds, run,
                [&](int set, int64_t ns) { times.Add(set, ns); }));
  times.SetTotals(NowNs() - start, ProcessCpuNs() - cpu_start);
  return times;
}

int64_t NowNs() {
  return std::chrono::steady_clock::now().time_since_epoch() /
         std::chrono::nanoseconds(1);
}

double PeakRssMb() {
  // Not rusage's ru_maxrss: that begins with what the parent had.
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (!absl::StartsWith(line, "VmHWM:")) continue;
    return std::strtod(line.c_str() + 6, nullptr) * 1024 / 1e6;
  }
  return 0;
}

}  // namespace tensord::bench
