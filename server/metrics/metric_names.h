#ifndef TENSORD_SERVER_METRICS_METRIC_NAMES_H_
#define TENSORD_SERVER_METRICS_METRIC_NAMES_H_

#include <cstddef>
#include <cstdint>

// Every metric of the daemon: identifier, name, type, unit of its values, label
// names in order, help, why one looks at it, and a query of Prometheus that
// reads it. The page has nothing that is not here, but for the exposer's own
// exposer_*; docs/metrics.md is written from here.
//
// Base units only (seconds, bytes); counters end in _total. Label values come
// from lists of the daemon's own (op kinds, backends, devices, kernels, dtypes,
// methods, status codes), never from a client.
#define TENSORD_METRICS(X)                                                     \
  X(kOpLaunches, "tensord_op_launches_total", kCounter, "launches",            \
    "op,backend,device",                                                       \
    "Launches by operator. Exact unless op_profile is off, which "             \
    "counts nothing. op=\"program_replay\" counts replays of recorded "        \
    "programs, whose kernels are counted under their own operators "           \
    "as well.",                                                                \
    "The first question of a profile: what runs, where, how often. "           \
    "Two releases that launch a different number of kernels for the "          \
    "same requests compiled them differently.",                                \
    "sum by (op, backend) (rate(tensord_op_launches_total[5m]))")              \
  X(kOpErrors, "tensord_op_errors_total", kCounter, "launches",                \
    "op,backend,device",                                                       \
    "Launches that returned an error. A fault that a device reports "          \
    "later is in tensord_device_faults_total.",                                \
    "Should be 0. One op on one device points at a kernel, all ops "           \
    "on one device at the device.",                                            \
    "sum by (op, device) (increase(tensord_op_errors_total[1h])) > 0")         \
  X(kOpBytes, "tensord_op_bytes_total", kCounter, "bytes",                     \
    "op,backend,device",                                                       \
    "Bytes of the operands that launches read and wrote.",                     \
    "Divided by time it is bandwidth: an op that is near what the "            \
    "memory gives will not become faster by a better kernel.",                 \
    "sum by (op, backend) (rate(tensord_op_bytes_total[5m]))")                 \
  X(kOpHostDuration, "tensord_op_host_duration_seconds", kHistogram,           \
    "seconds", "op,backend",                                                   \
    "Time that a launch took on its host thread. Where a launch only "         \
    "enqueues (GPUs) this is the enqueue, not the work: see "                  \
    "tensord_op_device_duration_seconds. Control flow is charged its "         \
    "own time, not its bodies'. Sampled: _count is samples, not "              \
    "launches; launches are in tensord_op_launches_total. Launches "           \
    "inside a replayed program have no host time; "                            \
    "op=\"program_replay\" has the replay's.",                                 \
    "Latency per operator, and each operator's share of the time: "            \
    "mean times launches, since the samples are a part of the "                \
    "launches.",                                                               \
    "histogram_quantile(0.99, sum by (le, op, backend) "                       \
    "(rate(tensord_op_host_duration_seconds_bucket[5m])))")                    \
  X(kOpDeviceDuration, "tensord_op_device_duration_seconds", kHistogram,       \
    "seconds", "op,backend",                                                   \
    "Time that a launch took on its device, by the device's own "              \
    "clock, where the backend has one. Sampled: _count is samples, "           \
    "not launches.",                                                           \
    "What an operator costs the device. Beside the host time it says "         \
    "which of the two a graph waits for.",                                     \
    "histogram_quantile(0.99, sum by (le, op, backend) "                       \
    "(rate(tensord_op_device_duration_seconds_bucket[5m])))")                  \
  X(kKernelLaunches, "tensord_kernel_launches_total", kCounter, "launches",    \
    "op,backend,kernel,dtype",                                                 \
    "Launches by kernel and dtype of the first output. "                       \
    "kernel=\"other\" is what came after the table of kernels was full.",      \
    "Which of an operator's kernels are used: a fast one that "                \
    "declines shows here as a slow one that is launched.",                     \
    "topk(20, sum by (op, backend, kernel, dtype) "                            \
    "(rate(tensord_kernel_launches_total[5m])))")                              \
  X(kOpProfileSampleEvery, "tensord_op_profile_sample_every", kGauge,          \
    "executions", "",                                                          \
    "How op_profile is set: 0 counts nothing, 1 times every "                  \
    "execution, N times one execution in N.",                                  \
    "Says how to read the two histograms above; an alert on them "             \
    "wants it above 0.",                                                       \
    "tensord_op_profile_sample_every")                                         \
  X(kOpProfileEpoch, "tensord_op_profile_epoch", kGauge, "changes", "",        \
    "How often op_profile was set anew. Samples from both sides of a "         \
    "change are not one sample.",                                              \
    "A panel over a change of settings compares two kinds of samples.",        \
    "changes(tensord_op_profile_epoch[1h])")                                   \
  X(kRequests, "tensord_requests_total", kCounter, "requests",                 \
    "service,method,code", "Finished calls by method and gRPC status code.",   \
    "Traffic and errors, as clients see them. Divide errors by all, "          \
    "without adding to the divisor: no traffic is no answer.",                 \
    "sum by (method) (rate(tensord_requests_total{code!=\"OK\"}[5m])) "        \
    "/ sum by (method) (rate(tensord_requests_total[5m]))")                    \
  X(kRequestDuration, "tensord_request_duration_seconds", kHistogram,          \
    "seconds", "service,method",                                               \
    "Time from a call's arrival at its handler to its last answer. "           \
    "Every call is measured.",                                                 \
    "Latency as the daemon can know it: the network and the client's "         \
    "own work are not in it. Streams are as long as they are open.",           \
    "histogram_quantile(0.99, sum by (le, method) "                            \
    "(rate(tensord_request_duration_seconds_bucket[5m])))")                    \
  X(kRequestBytes, "tensord_request_bytes", kHistogram, "bytes",               \
    "service,method",                                                          \
    "Bytes of the messages that a call sent to the daemon, summed up "         \
    "over a stream.",                                                          \
    "Large requests are what a slow decode phase and a full ingress "          \
    "budget come from.",                                                       \
    "sum by (method) (rate(tensord_request_bytes_sum[5m]))")                   \
  X(kExecutionPhaseDuration, "tensord_execution_phase_duration_seconds",       \
    kHistogram, "seconds", "phase,backend",                                    \
    "Host time of the phases of an execution: decode, queue, "                 \
    "compile, upload, run, wait, download, encode. They do not "               \
    "overlap. Every execution is measured. backend=\"none\" is what "          \
    "ended before a device was chosen.",                                       \
    "Where the time of a slow request went: waiting, compiling, "              \
    "copying, or computing.",                                                  \
    "sum by (phase, backend) "                                                 \
    "(rate(tensord_execution_phase_duration_seconds_sum[5m]))")                \
  X(kExecutions, "tensord_executions_total", kCounter, "executions", "state",  \
    "Executions by the state in which they ended.",                            \
    "Failures and expiries of runs by handle are no errors of their "          \
    "calls, and show here only.",                                              \
    "sum by (state) (rate(tensord_executions_total[5m]))")                     \
  X(kExecutionsInFlight, "tensord_executions_in_flight", kGauge, "executions", \
    "device", "Executions that hold a lane of the device.",                    \
    "Saturation: at a device's number of lanes, what comes next "              \
    "waits.",                                                                  \
    "sum by (device) (tensord_executions_in_flight)")                          \
  X(kDeviceLanes, "tensord_device_lanes", kGauge, "lanes", "device",           \
    "Executions that the device runs at a time.",                              \
    "The divisor of tensord_executions_in_flight: how busy a device is.",      \
    "sum by (device) (tensord_executions_in_flight) / sum by (device) "        \
    "(tensord_device_lanes)")                                                  \
  X(kQueueDepth, "tensord_queue_depth", kGauge, "executions", "device",        \
    "Executions that wait for a lane of the device.",                          \
    "Grows before latency does. One that does not fall while nothing "         \
    "is in flight is stuck.",                                                  \
    "max by (device) (tensord_queue_depth)")                                   \
  X(kQueueLimit, "tensord_queue_limit", kGauge, "executions", "device",        \
    "Executions that may wait for a lane of the device "                       \
    "(--max-queue-length).",                                                   \
    "The divisor of tensord_queue_depth: at 1, requests are refused.",         \
    "max by (device) (tensord_queue_depth / tensord_queue_limit)")             \
  X(kQueueBytes, "tensord_queue_bytes", kGauge, "bytes", "device",             \
    "Bytes of the inputs of the executions that wait for the device.",         \
    "A queue may be full by bytes long before it is by count.",                \
    "max by (device) (tensord_queue_bytes)")                                   \
  X(kQueueWait, "tensord_queue_wait_seconds", kHistogram, "seconds", "device", \
    "Time that executions waited for a lane of the device; 0 for "             \
    "those that found one free.",                                              \
    "What waiting for a lane adds to a request; when it is most of "           \
    "the latency, more lanes or devices help, and faster kernels do "          \
    "not.",                                                                    \
    "histogram_quantile(0.99, sum by (le, device) "                            \
    "(rate(tensord_queue_wait_seconds_bucket[5m])))")                          \
  X(kRejections, "tensord_rejections_total", kCounter, "requests", "reason",   \
    "Requests that were refused at the door, by reason.",                      \
    "Which limit turns work away; the daemon is healthy meanwhile.",           \
    "sum by (reason) (rate(tensord_rejections_total[5m]))")                    \
  X(kCompileDuration, "tensord_compile_duration_seconds", kHistogram,          \
    "seconds", "phase",                                                        \
    "Time of the phases of compiling a graph. Known graphs are not "           \
    "compiled and not measured here.",                                         \
    "First requests of new shapes pay it: load (decode and infer), "           \
    "plan (passes, bindings, memory), prepare (weights and kernels).",         \
    "histogram_quantile(0.9, sum by (le, phase) "                              \
    "(rate(tensord_compile_duration_seconds_bucket[1h])))")                    \
  X(kGraphCacheHits, "tensord_graph_cache_hits_total", kCounter, "lookups",    \
    "", "Lookups of a compiled graph that found one.",                         \
    "With the misses it is the hit ratio, which should be near 1 in "          \
    "a steady state.",                                                         \
    "rate(tensord_graph_cache_hits_total[5m]) / "                              \
    "(rate(tensord_graph_cache_hits_total[5m]) + "                             \
    "rate(tensord_graph_cache_misses_total[5m]))")                             \
  X(kGraphCacheMisses, "tensord_graph_cache_misses_total", kCounter,           \
    "lookups", "", "Lookups of a compiled graph that had to compile it.",      \
    "Each compiles. Misses that go on mean ever new shapes, or a "             \
    "cache that is too small.",                                                \
    "rate(tensord_graph_cache_misses_total[5m])")                              \
  X(kGraphCacheEvictions, "tensord_graph_cache_evictions_total", kCounter,     \
    "graphs", "", "Compiled graphs dropped to stay under the byte limit.",     \
    "Graphs that will be compiled again: with misses at the same "             \
    "rate the cache is too small.",                                            \
    "rate(tensord_graph_cache_evictions_total[5m])")                           \
  X(kGraphCacheBytes, "tensord_graph_cache_bytes", kGauge, "bytes", "",        \
    "Bytes that graphs and compiled graphs hold, packed weights "              \
    "included.",                                                               \
    "Most of the daemon's host memory, and bounded by "                        \
    "--graph-cache-bytes.",                                                    \
    "tensord_graph_cache_bytes")                                               \
  X(kTuningDecisions, "tensord_tuning_decisions_total", kCounter, "nodes",     \
    "outcome",                                                                 \
    "Nodes whose kernels were measured against each other: faster "            \
    "(another than the first was chosen), kept (the first stayed), "           \
    "skipped (not to be measured), failed. Absent while the tuner is "         \
    "off.",                                                                    \
    "Whether measuring finds anything: mostly kept is a table in the "         \
    "right order.",                                                            \
    "sum by (outcome) (increase(tensord_tuning_decisions_total[1d]))")         \
  X(kTuningDisagreements, "tensord_tuning_disagreements_total", kCounter,      \
    "kernels", "",                                                             \
    "Kernels that were not chosen since their result was beyond the "          \
    "tolerance of the portable one's. Should stay 0: the log names "           \
    "each.",                                                                   \
    "A kernel that computes something else than its siblings: a bug "          \
    "to report.",                                                              \
    "increase(tensord_tuning_disagreements_total[1d]) > 0")                    \
  X(kTuningSeconds, "tensord_tuning_seconds_total", kCounter, "seconds", "",   \
    "Time of devices that measuring has taken "                                \
    "(--tuning-seconds-per-hour).",                                            \
    "What tuning costs; it ends by itself.",                                   \
    "increase(tensord_tuning_seconds_total[1h])")                              \
  X(kTuningRemembered, "tensord_tuning_remembered_nodes", kGauge, "nodes", "", \
    "Different nodes whose kernels are known by measurement, those "           \
    "that were read from files at the start included.",                        \
    "0 after a restart with a --tuning-dir means that its files were "         \
    "of another build or machine.",                                            \
    "tensord_tuning_remembered_nodes")                                         \
  X(kDeviceUp, "tensord_device_up", kGauge, "boolean", "device",               \
    "1 while the device takes executions, 0 while it is drained or "           \
    "quarantined.",                                                            \
    "A device that is out of use takes no work; the others go on, so "         \
    "nothing else may show it.",                                               \
    "min by (device) (tensord_device_up) == 0")                                \
  X(kDeviceMemory, "tensord_device_memory_bytes", kGauge, "bytes",             \
    "device,kind", "Memory of the device by kind of use.",                     \
    "Kinds: limit (what the daemon may take), used, and weights, "             \
    "which are a part of used. Near the limit, requests are refused.",         \
    "sum by (device) (tensord_device_memory_bytes{kind=\"used\"}) / "          \
    "sum by (device) (tensord_device_memory_bytes{kind=\"limit\"})")           \
  X(kDeviceFaults, "tensord_device_faults_total", kCounter, "faults",          \
    "device", "Faults that the device or its driver reported.",                \
    "After one that is sticky the device is out of use until the "             \
    "daemon is restarted.",                                                    \
    "sum by (device) (increase(tensord_device_faults_total[1h])) > 0")         \
  X(kTransferBytes, "tensord_transfer_bytes_total", kCounter, "bytes",         \
    "device,direction",                                                        \
    "Bytes copied to the device (upload), from it (download), and "            \
    "from another device to it (peer).",                                       \
    "Copies that a better placement, or tensors that stay, would "             \
    "save. Absent for devices that use host memory in place.",                 \
    "sum by (device, direction) "                                              \
    "(rate(tensord_transfer_bytes_total[5m]))")                                \
  X(kSessions, "tensord_sessions", kGauge, "sessions", "",                     \
    "Sessions that are open, those of connections included.",                  \
    "Grows without end when clients do not close theirs and keep "             \
    "using them.",                                                             \
    "tensord_sessions")                                                        \
  X(kResidentTensors, "tensord_resident_tensors", kGauge, "tensors", "",       \
    "Tensors that sessions hold between runs.",                                \
    "Handles that clients forgot stay until their time to live is "            \
    "over.",                                                                   \
    "tensord_resident_tensors")                                                \
  X(kResidentBytes, "tensord_resident_bytes", kGauge, "bytes", "",             \
    "Bytes of the tensors that sessions hold between runs, of "                \
    "uploads under way, and of deleted tensors that a run still uses.",        \
    "At --max-resident-bytes uploads and outputs that stay are "               \
    "refused.",                                                                \
    "tensord_resident_bytes")                                                  \
  X(kBuildInfo, "tensord_build_info", kGauge, "boolean",                       \
    "version,revision,compiler,build_type",                                    \
    "Always 1; the labels say what is running.",                               \
    "Which versions serve, for instance during a rollout.",                    \
    "count by (version, revision) (tensord_build_info)")                       \
  X(kMetricsSeries, "tensord_metrics_series", kGauge, "series", "",            \
    "Series that this page has had so far, of the 12,000 that it may "         \
    "have.",                                                                   \
    "What the daemon costs Prometheus.", "tensord_metrics_series")             \
  X(kMetricsFoldedRows, "tensord_metrics_folded_rows", kGauge, "rows", "",     \
    "Label sets that have no series of their own since the page is "           \
    "full: those of operators and kernels are added up under \"other\".",      \
    "Above 0 the page is full, and rows named other stand for many.",          \
    "tensord_metrics_folded_rows > 0")                                         \
  X(kProcessCpuSeconds, "process_cpu_seconds_total", kCounter, "seconds", "",  \
    "User and system time of the process.",                                    \
    "CPUs that are busy for the daemon.",                                      \
    "rate(process_cpu_seconds_total[5m])")                                     \
  X(kProcessResidentMemory, "process_resident_memory_bytes", kGauge, "bytes",  \
    "", "Resident memory of the process.",                                     \
    "What the kernel's limit on memory is compared with.",                     \
    "process_resident_memory_bytes")                                           \
  X(kProcessVirtualMemory, "process_virtual_memory_bytes", kGauge, "bytes",    \
    "", "Virtual memory of the process.",                                      \
    "Reserved address space; large by itself and no cause for alarm.",         \
    "process_virtual_memory_bytes")                                            \
  X(kProcessOpenFds, "process_open_fds", kGauge, "descriptors", "",            \
    "Open file descriptors.", "Each connection takes one.",                    \
    "process_open_fds / process_max_fds")                                      \
  X(kProcessMaxFds, "process_max_fds", kGauge, "descriptors", "",              \
    "How many file descriptors the process may open.",                         \
    "The divisor of the one above.", "process_max_fds")                        \
  X(kProcessStartTime, "process_start_time_seconds", kGauge, "seconds", "",    \
    "When the process started, since the epoch of Unix.",                      \
    "Restarts, and the age of counters.",                                      \
    "time() - process_start_time_seconds")

namespace tensord::metrics {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

struct MetricDef {
  const char* name;
  MetricType type;
  const char* unit;
  const char* labels;  // names, separated by commas
  const char* help;
  const char* why;    // it is looked at
  const char* query;  // PromQL
};

enum class MetricId : uint8_t {
#define TENSORD_METRIC(id, ...) id,
  TENSORD_METRICS(TENSORD_METRIC)
#undef TENSORD_METRIC
};

inline constexpr MetricDef kMetricDefs[] = {
#define TENSORD_METRIC(id, name, type, unit, labels, help, why, query) \
  {name, MetricType::type, unit, labels, help, why, query},
    TENSORD_METRICS(TENSORD_METRIC)
#undef TENSORD_METRIC
};
inline constexpr size_t kMetricCount =
    sizeof(kMetricDefs) / sizeof(kMetricDefs[0]);

constexpr const MetricDef& Def(MetricId id) {
  return kMetricDefs[static_cast<size_t>(id)];
}

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_METRIC_NAMES_H_
