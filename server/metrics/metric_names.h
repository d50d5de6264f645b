#ifndef TENSORD_SERVER_METRICS_METRIC_NAMES_H_
#define TENSORD_SERVER_METRICS_METRIC_NAMES_H_

#include <cstddef>
#include <cstdint>

// Every metric of the daemon: identifier, name, type, unit of its values, label
// names in order, help. The page has nothing that is not here, but for the
// exposer's own exposer_*.
//
// Base units only (seconds, bytes); counters end in _total. Label values come
// from lists of the daemon's own (op kinds, backends, devices, kernels, dtypes,
// methods, status codes), never from a client.
#define TENSORD_METRICS(X)                                                     \
  X(kOpLaunches, "tensord_op_launches_total", kCounter, "launches",            \
    "op,backend,device",                                                       \
    "Launches by operator. Exact unless op_profile is off, which counts "      \
    "nothing. op=\"program_replay\" counts replays of recorded programs, "     \
    "whose kernels are counted under their own operators as well.")            \
  X(kOpErrors, "tensord_op_errors_total", kCounter, "launches",                \
    "op,backend,device",                                                       \
    "Launches that returned an error. A fault that a device reports later is " \
    "in tensord_device_faults_total.")                                         \
  X(kOpBytes, "tensord_op_bytes_total", kCounter, "bytes",                     \
    "op,backend,device",                                                       \
    "Bytes of the operands that launches read and wrote.")                     \
  X(kOpHostDuration, "tensord_op_host_duration_seconds", kHistogram,           \
    "seconds", "op,backend",                                                   \
    "Time that a launch took on its host thread. Where a launch only "         \
    "enqueues (GPUs) this is the enqueue, not the work: see "                  \
    "tensord_op_device_duration_seconds. Control flow is charged its own "     \
    "time, not its bodies'. Sampled: _count is samples, not launches; "        \
    "launches are in tensord_op_launches_total. Launches inside a replayed "   \
    "program have no host time; op=\"program_replay\" has the replay's.")      \
  X(kOpDeviceDuration, "tensord_op_device_duration_seconds", kHistogram,       \
    "seconds", "op,backend",                                                   \
    "Time that a launch took on its device, by the device's own clock, where " \
    "the backend has one. Sampled: _count is samples, not launches.")          \
  X(kKernelLaunches, "tensord_kernel_launches_total", kCounter, "launches",    \
    "op,backend,kernel,dtype",                                                 \
    "Launches by kernel and dtype of the first output. kernel=\"other\" is "   \
    "what came after the table of kernels was full.")                          \
  X(kOpProfileSampleEvery, "tensord_op_profile_sample_every", kGauge,          \
    "executions", "",                                                          \
    "How op_profile is set: 0 counts nothing, 1 times every execution, N "     \
    "times one execution in N.")                                               \
  X(kOpProfileEpoch, "tensord_op_profile_epoch", kGauge, "changes", "",        \
    "How often op_profile was set anew. Samples from both sides of a change "  \
    "are not one sample.")                                                     \
  X(kRequests, "tensord_requests_total", kCounter, "requests",                 \
    "service,method,code", "Finished calls by method and gRPC status code.")   \
  X(kRequestDuration, "tensord_request_duration_seconds", kHistogram,          \
    "seconds", "service,method",                                               \
    "Time from a call's arrival at its handler to its last answer. Every "     \
    "call is measured.")                                                       \
  X(kRequestBytes, "tensord_request_bytes", kHistogram, "bytes",               \
    "service,method",                                                          \
    "Bytes of the messages that a call sent to the daemon, summed up over a "  \
    "stream.")                                                                 \
  X(kExecutionPhaseDuration, "tensord_execution_phase_duration_seconds",       \
    kHistogram, "seconds", "phase,backend",                                    \
    "Host time of the phases of an execution: decode, queue, compile, "        \
    "upload, run, wait, download, encode. They do not overlap. Every "         \
    "execution is measured. backend=\"none\" is what ended before a device "   \
    "was chosen.")                                                             \
  X(kExecutions, "tensord_executions_total", kCounter, "executions", "state",  \
    "Executions by the state in which they ended.")                            \
  X(kExecutionsInFlight, "tensord_executions_in_flight", kGauge, "executions", \
    "device", "Executions that hold a lane of the device.")                    \
  X(kQueueDepth, "tensord_queue_depth", kGauge, "executions", "device",        \
    "Executions that wait for a lane of the device.")                          \
  X(kQueueBytes, "tensord_queue_bytes", kGauge, "bytes", "device",             \
    "Bytes of the inputs of the executions that wait for the device.")         \
  X(kQueueWait, "tensord_queue_wait_seconds", kHistogram, "seconds", "device", \
    "Time that executions waited for a lane of the device; 0 for those that "  \
    "found one free.")                                                         \
  X(kRejections, "tensord_rejections_total", kCounter, "requests", "reason",   \
    "Requests that were refused at the door, by reason.")                      \
  X(kCompileDuration, "tensord_compile_duration_seconds", kHistogram,          \
    "seconds", "phase",                                                        \
    "Time of the phases of compiling a graph. Known graphs are not compiled "  \
    "and not measured here.")                                                  \
  X(kGraphCacheHits, "tensord_graph_cache_hits_total", kCounter, "lookups",    \
    "", "Lookups of a compiled graph that found one.")                         \
  X(kGraphCacheMisses, "tensord_graph_cache_misses_total", kCounter,           \
    "lookups", "", "Lookups of a compiled graph that had to compile it.")      \
  X(kGraphCacheEvictions, "tensord_graph_cache_evictions_total", kCounter,     \
    "graphs", "", "Compiled graphs dropped to stay under the byte limit.")     \
  X(kGraphCacheBytes, "tensord_graph_cache_bytes", kGauge, "bytes", "",        \
    "Bytes that graphs and compiled graphs hold, packed weights included.")    \
  X(kTuningDecisions, "tensord_tuning_decisions_total", kCounter, "nodes",     \
    "outcome",                                                                 \
    "Nodes whose kernels were measured against each other: faster (another "   \
    "than the first was chosen), kept (the first stayed), skipped (not to "    \
    "be measured), failed. Absent while the tuner is off.")                    \
  X(kTuningDisagreements, "tensord_tuning_disagreements_total", kCounter,      \
    "kernels", "",                                                             \
    "Kernels that were not chosen since their result was beyond the "          \
    "tolerance of the portable one's. Should stay 0: the log names each.")     \
  X(kTuningSeconds, "tensord_tuning_seconds_total", kCounter, "seconds", "",   \
    "Time of devices that measuring has taken (--tuning-seconds-per-hour).")   \
  X(kTuningRemembered, "tensord_tuning_remembered_nodes", kGauge, "nodes", "", \
    "Different nodes whose kernels are known by measurement, those that were " \
    "read from files at the start included.")                                  \
  X(kDeviceUp, "tensord_device_up", kGauge, "boolean", "device",               \
    "1 while the device takes executions, 0 while it is drained or "           \
    "quarantined.")                                                            \
  X(kDeviceMemory, "tensord_device_memory_bytes", kGauge, "bytes",             \
    "device,kind", "Memory of the device by kind of use.")                     \
  X(kDeviceFaults, "tensord_device_faults_total", kCounter, "faults",          \
    "device", "Faults that the device or its driver reported.")                \
  X(kTransferBytes, "tensord_transfer_bytes_total", kCounter, "bytes",         \
    "device,direction",                                                        \
    "Bytes copied to the device (upload), from it (download), and from "       \
    "another device to it (peer).")                                            \
  X(kSessions, "tensord_sessions", kGauge, "sessions", "",                     \
    "Sessions that are open, those of connections included.")                  \
  X(kResidentTensors, "tensord_resident_tensors", kGauge, "tensors", "",       \
    "Tensors that sessions hold between runs.")                                \
  X(kResidentBytes, "tensord_resident_bytes", kGauge, "bytes", "",             \
    "Bytes of the tensors that sessions hold between runs, of uploads under "  \
    "way, and of deleted tensors that a run still uses.")                      \
  X(kBuildInfo, "tensord_build_info", kGauge, "boolean",                       \
    "version,revision,compiler,build_type",                                    \
    "Always 1; the labels say what is running.")                               \
  X(kMetricsSeries, "tensord_metrics_series", kGauge, "series", "",            \
    "Series that this page has had so far, of the 12,000 that it may have.")   \
  X(kMetricsFoldedRows, "tensord_metrics_folded_rows", kGauge, "rows", "",     \
    "Label sets that have no series of their own since the page is full: "     \
    "those of operators and kernels are added up under \"other\".")            \
  X(kProcessCpuSeconds, "process_cpu_seconds_total", kCounter, "seconds", "",  \
    "User and system time of the process.")                                    \
  X(kProcessResidentMemory, "process_resident_memory_bytes", kGauge, "bytes",  \
    "", "Resident memory of the process.")                                     \
  X(kProcessVirtualMemory, "process_virtual_memory_bytes", kGauge, "bytes",    \
    "", "Virtual memory of the process.")                                      \
  X(kProcessOpenFds, "process_open_fds", kGauge, "descriptors", "",            \
    "Open file descriptors.")                                                  \
  X(kProcessMaxFds, "process_max_fds", kGauge, "descriptors", "",              \
    "How many file descriptors the process may open.")                         \
  X(kProcessStartTime, "process_start_time_seconds", kGauge, "seconds", "",    \
    "When the process started, since the epoch of Unix.")

namespace tensord::metrics {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

struct MetricDef {
  const char* name;
  MetricType type;
  const char* unit;
  const char* labels;  // names, separated by commas
  const char* help;
};

enum class MetricId : uint8_t {
#define TENSORD_METRIC(id, ...) id,
  TENSORD_METRICS(TENSORD_METRIC)
#undef TENSORD_METRIC
};

inline constexpr MetricDef kMetricDefs[] = {
#define TENSORD_METRIC(id, name, type, unit, labels, help) \
  {name, MetricType::type, unit, labels, help},
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
