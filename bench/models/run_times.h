#ifndef TENSORD_BENCH_MODELS_RUN_TIMES_H_
#define TENSORD_BENCH_MODELS_RUN_TIMES_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace tensord::bench {

// How long to measure. A round runs every data set once.
struct RunBudget {
  absl::Duration warm_up = absl::Milliseconds(300);
  absl::Duration measure = absl::Seconds(1.5);
  int min_rounds = 3;  // measured, however long they take
};

// The times of a model's runs, by data set.
// Threading and ownership: a plain value.
class RunTimes {
 public:
  explicit RunTimes(int set_count) : ns_(set_count) {}

  void Add(int set, int64_t ns) { ns_[set].push_back(ns); }

  // Milliseconds of a run when the data sets take turns: the percentile of each
  // set, averaged over the sets. `p` in [0, 1]; the mean of the middle two
  // where there is no middle one.
  double PercentileMs(double p) const;

  // What measuring took: time, and CPU time of the whole process.
  void SetTotals(int64_t wall_ns, int64_t cpu_ns) {
    wall_ns_ = static_cast<double>(wall_ns);
    cpu_ns_ = static_cast<double>(cpu_ns);
  }

  // "ms", "p10_ms", "p90_ms", "set_ms" (the medians), "runs"; "cpu_ms", the CPU
  // time per run, which other processes disturb less; and "cores", CPU time
  // per time, which says whether one thread was one thread.
  nlohmann::ordered_json ToJson() const;

 private:
  std::vector<std::vector<int64_t>> ns_;
  double wall_ns_ = 1;
  double cpu_ns_ = 0;
};

// Calls `run` for set after set, first to warm up, then to measure. It returns
// the nanoseconds of what is to be measured. The first error ends it.
absl::StatusOr<RunTimes> MeasureRuns(
    int set_count, const RunBudget& budget,
    absl::FunctionRef<absl::StatusOr<int64_t>(int set)> run);

// Nanoseconds of the monotonic clock.
int64_t NowNs();

// The most memory that this process has had, in MB (10^6 bytes).
double PeakRssMb();

}  // namespace tensord::bench

#endif  // TENSORD_BENCH_MODELS_RUN_TIMES_H_
