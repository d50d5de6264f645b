#ifndef TENSORD_TOOLS_TENSORDCTL_RUN_REPORT_H_
#define TENSORD_TOOLS_TENSORDCTL_RUN_REPORT_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tensord/v1/execution_service.pb.h"
#include "tools/tensordctl/compare.h"
#include "tools/tensordctl/console.h"
#include "tools/tensordctl/data_set.h"

// What `run` shows and writes of its answers.
namespace tensord::ctl {

// Each output on a line: its type, its range, and its first elements.
void PrintOutputs(const Console& console, const v1::ExecuteResponse& response);

// For each output and row of its last axis, the `count` largest elements; named
// by `labels` where these go so far.
absl::Status PrintTopClasses(const Console& console,
                             const v1::ExecuteResponse& response, int64_t count,
                             const std::vector<std::string>& labels);

// The same for programs: a list of {output, row, classes: [...]}.
absl::StatusOr<nlohmann::ordered_json> JsonOfTopClasses(
    const v1::ExecuteResponse& response, int64_t count,
    const std::vector<std::string>& labels);

// Where the run's time went, on one line.
void PrintTimings(const Console& console, const v1::ExecuteResponse& response);

// The launches of the run in a table.
void PrintTrace(const Console& console, const v1::ExecutionTrace& trace);

// Wall times of several calls, as the client sees them, in nanoseconds.
struct Latency {
  int64_t count = 0;
  int64_t min_ns = 0;
  int64_t p50_ns = 0;
  int64_t p99_ns = 0;
  int64_t max_ns = 0;
};
Latency SummarizeLatency(std::vector<int64_t> durations_ns);
void PrintLatency(const Console& console, const Latency& latency);

// One output beside what was expected of it.
struct ComparedOutput {
  std::string name;
  Difference difference;
};
std::vector<ComparedOutput> CompareOutputs(const DataSet& set,
                                           const v1::ExecuteResponse& response,
                                           const Tolerance& tolerance);
void PrintComparison(const Console& console, const std::string& set,
                     const std::vector<ComparedOutput>& outputs,
                     const Tolerance& tolerance);
nlohmann::ordered_json JsonOfComparison(
    const std::string& set, const std::vector<ComparedOutput>& outputs);

// Writes each output to a file in `folder`, which is made if need be: NAME.npy,
// or NAME.pb for a dtype that NumPy does not have. LocalError() with the path.
absl::Status WriteOutputs(const v1::ExecuteResponse& response,
                          const std::string& folder,
                          std::vector<std::string>& written);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_RUN_REPORT_H_
