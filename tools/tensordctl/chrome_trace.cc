#include "tools/tensordctl/chrome_trace.h"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord::ctl {
namespace {

using Json = nlohmann::ordered_json;

// Rows are threads of processes in this format: the daemon's host is one
// process, each device another.
constexpr int kHost = 1;
constexpr int kFirstDevice = 2;
constexpr int kPhases = 1;
constexpr int kLaunches = 2;

struct PhaseTime {
  const char* name;
  int64_t ns;
};

// In the order in which a run passes them.
std::array<PhaseTime, 8> PhasesOf(const v1::PhaseTimings& timings) {
  return {{{"decode", timings.decode_ns()},
           {"compile", timings.compile_ns()},
           {"queue", timings.queue_ns()},
           {"upload", timings.upload_ns()},
           {"run", timings.run_ns()},
           {"wait", timings.wait_ns()},
           {"download", timings.download_ns()},
           {"encode", timings.encode_ns()}}};
}

Json NameOf(const char* what, int process, int thread,
            const std::string& name) {
  return {{"ph", "M"},
          {"name", what},
          {"pid", process},
          {"tid", thread},
          {"args", {{"name", name}}}};
}

Json Slice(int process, int thread, const std::string& name,
           const char* category, int64_t start_ns, int64_t duration_ns) {
  return {{"ph", "X"},
          {"name", name},
          {"cat", category},
          {"pid", process},
          {"tid", thread},
          {"ts", static_cast<double>(start_ns) / 1e3},
          {"dur", static_cast<double>(duration_ns) / 1e3}};
}

Json LaunchArguments(const v1::TraceRow& row) {
  return {{"op", row.op()},
          {"kernel", row.kernel()},
          {"node_index", row.node_index()},
          {"segment_index", row.segment_index()},
          {"device", row.device()},
          {"bytes", row.size_bytes()}};
}

// Launches are told from when the run took its lane.
int64_t LaneStart(const v1::PhaseTimings& timings) {
  return timings.decode_ns() + timings.compile_ns() + timings.queue_ns();
}

void AddPhases(const v1::PhaseTimings& timings, Json& events) {
  int64_t start_ns = 0;
  for (const PhaseTime& phase : PhasesOf(timings)) {
    if (phase.ns > 0) {
      events.push_back(
          Slice(kHost, kPhases, phase.name, "phase", start_ns, phase.ns));
    }
    start_ns += phase.ns;
  }
}

void AddLaunches(const RunTrace& run, Json& events) {
  const int64_t origin_ns = LaneStart(run.timings);
  std::map<std::string, int> devices;
  for (const v1::TraceRow& row : run.launches.rows()) {
    const std::string name =
        row.node().empty() ? row.op() : absl::StrCat(row.op(), " ", row.node());
    Json host = Slice(kHost, kLaunches, name, "launch",
                      origin_ns + row.start_ns(), row.host_ns());
    host["args"] = LaunchArguments(row);
    events.push_back(std::move(host));
    if (!row.has_device_ns()) continue;
    const int process =
        devices.emplace(row.device(), kFirstDevice + devices.size())
            .first->second;
    Json device = Slice(process, kLaunches, name, "kernel",
                        origin_ns + row.device_start_ns(), row.device_ns());
    device["args"] = LaunchArguments(row);
    events.push_back(std::move(device));
  }
  for (const auto& [name, process] : devices) {
    events.push_back(NameOf("process_name", process, kLaunches, name));
    events.push_back(NameOf("thread_name", process, kLaunches, "kernels"));
  }
}

}  // namespace

Json ChromeTrace(const RunTrace& run) {
  Json events = Json::array();
  events.push_back(NameOf("process_name", kHost, kPhases, "tensord"));
  events.push_back(NameOf("thread_name", kHost, kPhases, "phases"));
  events.push_back(NameOf("thread_name", kHost, kLaunches, "launches"));
  AddPhases(run.timings, events);
  AddLaunches(run, events);
  Json about = {{"execution_id", run.execution_id},
                {"graph_id", run.graph_id},
                {"device", run.device}};
  if (!run.trace_id.empty()) about["trace_id"] = run.trace_id;
  if (run.launches.is_truncated()) {
    about["launches_left_out"] =
        run.launches.launch_count() - run.launches.rows_size();
  }
  return {{"displayTimeUnit", "ns"},
          {"otherData", std::move(about)},
          {"traceEvents", std::move(events)}};
}

}  // namespace tensord::ctl
