#include "server/config/option_table.h"

#include <array>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "backends/api/shape.h"
#include "server/config/option_values.h"

namespace tensord {
namespace {

constexpr int64_t kMaxInt32 = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxBytes = int64_t{1} << 50;
constexpr int64_t kMany = 1'000'000'000;

// A field of ServerConfig, as a type: rows are built from it.
#define FIELD(path) \
  [](auto& config) -> auto& { return config.path; }

template <typename Field>
Option Number(const char* name, const char* group, const char* help, Field,
              int64_t min, int64_t max) {
  return {.name = name,
          .group = group,
          .help = help,
          .min = min,
          .max = max,
          .set =
              [](const Option& option, ServerConfig& config,
                 absl::string_view text) {
                const auto value = ParseNumber(text, option.min, option.max);
                if (value.ok()) Field{}(config) = *value;
                return value.status();
              },
          .get =
              [](const ServerConfig& config) {
                return absl::StrCat(Field{}(config));
              }};
}

template <typename Field>
Option Bytes(const char* name, const char* group, const char* help, Field,
             int64_t min, int64_t max) {
  return {.name = name,
          .group = group,
          .help = help,
          .min = min,
          .max = max,
          .set =
              [](const Option& option, ServerConfig& config,
                 absl::string_view text) {
                const auto value = ParseBytes(text, option.min, option.max);
                if (value.ok()) Field{}(config) = *value;
                return value.status();
              },
          .get =
              [](const ServerConfig& config) {
                return FormatBytes(Field{}(config));
              }};
}

template <typename Field>
Option Duration(const char* name, const char* group, const char* help, Field) {
  return {.name = name,
          .group = group,
          .help = help,
          .set =
              [](const Option&, ServerConfig& config, absl::string_view text) {
                const auto value = ParseDuration(text);
                if (value.ok()) Field{}(config) = *value;
                return value.status();
              },
          .get =
              [](const ServerConfig& config) {
                return absl::FormatDuration(Field{}(config));
              }};
}

template <typename Field>
Option Flag(const char* name, const char* group, const char* help, Field) {
  return {.name = name,
          .group = group,
          .help = help,
          .kind = Option::Kind::kFlag,
          .set =
              [](const Option&, ServerConfig& config, absl::string_view text) {
                const auto value = ParseBool(text);
                if (value.ok()) Field{}(config) = *value;
                return value.status();
              },
          .get =
              [](const ServerConfig& config) {
                return FormatBool(Field{}(config));
              }};
}

template <typename Field>
Option Text(const char* name, const char* group, const char* help, Field) {
  return {.name = name,
          .group = group,
          .help = help,
          .set =
              [](const Option&, ServerConfig& config, absl::string_view text) {
                Field{}(config) = std::string(text);
                return absl::OkStatus();
              },
          .get =
              [](const ServerConfig& config) {
                return std::string(Field{}(config));
              }};
}

template <typename Field>
Option List(const char* name, const char* group, const char* help, Field) {
  return {.name = name,
          .group = group,
          .help = help,
          .kind = Option::Kind::kList,
          .set =
              [](const Option&, ServerConfig& config, absl::string_view text) {
                Field{}(config) = ParseList(text);
                return absl::OkStatus();
              },
          .get =
              [](const ServerConfig& config) {
                return absl::StrJoin(Field{}(config), ",");
              }};
}

// The words that an enumeration's option takes, by value from 0.
template <typename Enum>
constexpr std::array<const char*, 0> kWords;
template <>
constexpr std::array<const char*, 3> kWords<op_profile::Mode> = {
    "off", "sampled", "full"};
template <>
constexpr std::array<const char*, 2> kWords<LogFormat> = {"text", "json"};
template <>
constexpr std::array<const char*, 4> kWords<LogSeverity> = {"debug", "info",
                                                            "warning", "error"};

template <typename Field>
Option Choice(const char* name, const char* group, const char* help, Field) {
  return {.name = name,
          .group = group,
          .help = help,
          .set =
              [](const Option&, ServerConfig& config, absl::string_view text) {
                auto& field = Field{}(config);
                using Enum = std::remove_reference_t<decltype(field)>;
                for (size_t i = 0; i < kWords<Enum>.size(); ++i) {
                  if (text == kWords<Enum>[i]) {
                    field = static_cast<Enum>(i);
                    return absl::OkStatus();
                  }
                }
                return absl::InvalidArgumentError(
                    absl::StrCat("'", text, "' is not right; give ",
                                 absl::StrJoin(kWords<Enum>, " or ")));
              },
          .get = [](const ServerConfig& config) -> std::string {
            const auto& field = Field{}(config);
            using Enum =
                std::remove_const_t<std::remove_reference_t<decltype(field)>>;
            return kWords<Enum>[static_cast<size_t>(field)];
          }};
}

std::vector<Option> MakeTable() {
  constexpr const char* kAddresses = "Addresses";
  constexpr const char* kDevices = "Devices";
  constexpr const char* kRequests = "Limits on requests";
  constexpr const char* kGraphs = "Limits on graphs";
  constexpr const char* kRuns = "Limits on runs";
  constexpr const char* kSessions = "Sessions and what they own";
  constexpr const char* kObserving = "Observing";
  constexpr const char* kProcess = "The process";
  return {
      List("listen", kAddresses,
           "Where to serve gRPC: HOST:PORT (port 0: a free one) or unix:PATH; "
           "several, with commas",
           FIELD(listen)),
      Text("metrics-listen", kAddresses,
           "Where to serve the Prometheus page, HOST:PORT; off: nowhere",
           FIELD(metrics_listen)),
      Flag("insecure", kAddresses,
           "Allow plain text on addresses that other machines can reach",
           FIELD(insecure)),
      Text("tls-cert", kAddresses, "Reserved for TLS: not in this version",
           FIELD(tls_cert)),
      Text("tls-key", kAddresses, "Reserved for TLS: not in this version",
           FIELD(tls_key)),
      Text("port-file", kAddresses,
           "Write the bound addresses there as JSON, once they are served",
           FIELD(port_file)),
      Text("advertised-name", kAddresses,
           "The instance's name, the first part of its ids: [a-z0-9-], at most "
           "63 bytes",
           FIELD(advertised_name)),

      List("devices", kDevices,
           "The pool, such as cpu:0,cuda:1; cuda and vulkan are every device "
           "of theirs, auto is cpu:0 and every GPU of CUDA that there is",
           FIELD(device_names)),
      Text("plugin-dir", kDevices,
           "Where the libraries of backends are; empty: beside this program",
           FIELD(plugin_dir)),
      Number("lanes-per-device", kDevices,
             "Runs at once on one device; 0: as many as the device says",
             FIELD(engine.lanes_per_device), 0, 1024),
      Number("threads", kDevices,
             "Threads of the CPU kernels; 0: by the control group's quota",
             FIELD(threads), 0, 4096),
      Number("compile-threads", kDevices, "Threads that compile graphs",
             FIELD(engine.compile_threads), 1, 256),
      Flag("pipelined-compile", kDevices,
           "Start a first run while later nodes are being prepared",
           FIELD(engine.pipelined_compile)),
      Flag("programs", kDevices,
           "Record what a graph launches on a GPU and submit it as a whole",
           FIELD(engine.programs)),
      Flag("calibrate-devices", kDevices,
           "Measure each device's rates at start, some 20 ms each; else "
           "estimates go by what it supposes",
           FIELD(engine.calibrate_devices)),
      Duration(
          "probe-interval", kDevices,
          "A device that was idle for so long is asked whether it answers; "
          "0: never",
          FIELD(engine.probe_interval)),
      Duration(
          "max-stall-time", kDevices,
          "Not ready when runs wait for a device and none has ended for so "
          "long",
          FIELD(engine.max_stall_time)),
      Duration("inline-limit", kDevices,
               "Runs estimated below this stay on the request's thread when a "
               "lane is idle",
               FIELD(engine.inline_limit)),

      Flag("tuning", kDevices,
           "Measure kernels against each other in the background, and use the "
           "fastest",
           FIELD(engine.tuning.is_on)),
      Text("tuning-dir", kDevices,
           "Where to remember what was measured, over restarts; empty: nowhere",
           FIELD(engine.tuning.directory)),
      Number("tuning-seconds-per-hour", kDevices,
             "How long measuring may keep devices busy",
             FIELD(engine.tuning.seconds_per_hour), 1, 3600),

      Bytes("max-message-bytes", kRequests,
            "One message, received or sent; larger ones are refused",
            FIELD(max_message_bytes), 1024, kMaxInt32 - (int64_t{1} << 20)),
      Bytes("max-upload-bytes", kRequests, "One upload",
            FIELD(max_upload_bytes), 1024, kMaxBytes),
      Bytes("upload-budget-bytes", kRequests,
            "All uploads under way; further ones wait",
            FIELD(upload_budget_bytes), 1024, kMaxBytes),
      Duration("upload-idle-timeout", kRequests,
               "An upload that sends nothing for so long is cancelled",
               FIELD(upload_idle_timeout)),
      Bytes("max-ingress-bytes", kRequests,
            "Memory for what is received and not yet read, over all "
            "connections",
            FIELD(max_ingress_bytes), int64_t{16} << 20, kMaxBytes),
      Number("max-concurrent-streams", kRequests, "Calls on one connection",
             FIELD(max_concurrent_streams), 1, 100'000),
      Duration("max-connection-age", kRequests,
               "Older connections are asked to go; their calls may end. 0s: no "
               "limit",
               FIELD(max_connection_age)),
      Number("max-watchers", kRequests, "Streams of WatchOpProfile",
             FIELD(max_watchers), 0, 100'000),

      Number("max-nodes", kGraphs, "Operators of one graph, nested included",
             FIELD(engine.limits.max_nodes), 1, kMany),
      Number("max-values", kGraphs, "Values of one graph, nested included",
             FIELD(engine.limits.max_values), 1, kMany),
      Number("max-operands", kGraphs, "Inputs of all nodes of one graph",
             FIELD(engine.limits.max_operands), 1, kMany),
      Number("max-attributes", kGraphs, "Attributes of one node",
             FIELD(engine.limits.max_attributes), 0, kMany),
      Number("max-nesting-depth", kGraphs, "Graphs within graphs",
             FIELD(engine.limits.max_nesting_depth), 0, 64),
      Number("max-function-depth", kGraphs, "Functions that call functions",
             FIELD(engine.limits.max_function_depth), 0, 10'000),
      Number("max-rank", kGraphs, "Extents of one tensor",
             FIELD(engine.limits.max_rank), 0, kMaxRank),
      Number("max-elements", kGraphs, "Elements of one tensor",
             FIELD(engine.limits.max_elements), 1, kMaxElementCount),
      Bytes("max-constant-bytes", kGraphs, "Constants of one graph",
            FIELD(engine.limits.max_constant_bytes), 0, kMaxBytes),
      Bytes("max-folded-bytes", kGraphs,
            "What constant folding may add to one graph",
            FIELD(engine.limits.max_folded_bytes), 0, kMaxBytes),
      Number("max-name-bytes", kGraphs, "Bytes of one name",
             FIELD(engine.limits.max_name_bytes), 1, 65'536),
      Number("max-graphs", kGraphs, "Graphs that are held",
             FIELD(engine.max_graphs), 1, kMany),
      Bytes("graph-cache-bytes", kGraphs, "Graphs and compiled graphs",
            FIELD(engine.graph_cache_bytes), 0, kMaxBytes),
      Number("max-queued-compilations", kGraphs,
             "Compilations that wait for a thread",
             FIELD(engine.max_queued_compilations), 1, kMany),

      Bytes("max-peak-bytes", kRuns, "Arena, inputs and outputs of one run",
            FIELD(engine.max_peak_bytes), 1, kMaxBytes),
      Number("max-queue-length", kRuns, "Runs that wait for one device",
             FIELD(engine.max_queue_length), 1, kMany),
      Bytes("max-queued-bytes", kRuns, "Bytes of their inputs",
            FIELD(engine.max_queued_bytes), 1, kMaxBytes),
      Duration("max-queue-time", kRuns,
               "How long one run waits for its compilation and a lane",
               FIELD(engine.max_queue_time)),
      Duration("max-execution-time", kRuns, "How long one run holds a lane",
               FIELD(engine.max_execution_time)),
      Duration("hang-timeout", kRuns,
               "How much longer until its device counts as hung",
               FIELD(engine.hang_timeout)),
      Bytes("max-idle-buffer-bytes", kRuns,
            "Buffers for tensors that are kept for the next request",
            FIELD(engine.max_idle_buffer_bytes), 0, kMaxBytes),
      Number("max-trace-rows", kRuns, "Launches in one trace",
             FIELD(max_trace_rows), 0, 1'000'000),

      Number("max-stream-executions", kRuns,
             "Runs of one ExecuteStream that have not been answered",
             FIELD(max_stream_executions), 1, 100'000),
      Duration("max-wait-time", kRuns, "How long one WaitExecution waits",
               FIELD(max_wait_time)),

      Number("max-sessions", kSessions, "Sessions of one principal",
             FIELD(max_sessions), 1, kMany),
      Duration("session-time", kSessions,
               "How long a session lives after its last use, unless it says",
               FIELD(session_time)),
      Duration("max-session-time", kSessions, "The most that it may say",
               FIELD(max_session_time)),
      Number("max-session-executions", kSessions,
             "Runs of one session that have not ended",
             FIELD(max_session_executions), 1, kMany),
      Number("max-session-requests", kSessions,
             "request_ids that one session remembers",
             FIELD(max_session_requests), 1, kMany),
      Bytes("max-session-bytes", kSessions, "Tensors of one session",
            FIELD(max_session_bytes), 0, kMaxBytes),
      Bytes("max-resident-bytes", kSessions, "Tensors of all sessions",
            FIELD(max_resident_bytes), 0, kMaxBytes),
      Duration("upload-keep-time", kSessions,
               "How long an upload that broke off can be gone on with",
               FIELD(upload_keep_time)),
      Duration("result-time", kSessions,
               "How long a run's result is kept, unless the request says",
               FIELD(result_time)),
      Duration("max-result-time", kSessions,
               "The most that it may say, and how long request_ids are "
               "remembered",
               FIELD(max_result_time)),
      Bytes("max-result-bytes", kSessions,
            "Results that are kept; the oldest go first",
            FIELD(max_result_bytes), 0, kMaxBytes),
      Number("max-ended-executions", kSessions,
             "Ended runs that are known; the oldest go first",
             FIELD(max_ended_executions), 0, kMany),

      Choice("op-profile", kObserving,
             "Accounting of kernel launches: off, sampled or full",
             FIELD(op_profile.mode)),
      Number("op-profile-sample-every", kObserving,
             "In mode sampled, one run in so many is timed",
             FIELD(op_profile.sample_every), 1, 1'000'000),
      Choice("log-format", kObserving, "text or json", FIELD(log_format)),
      Choice("log-level", kObserving, "debug, info, warning or error",
             FIELD(log_level)),
      Duration("slow-request", kObserving,
               "Requests that take longer are logged; 0s: none",
               FIELD(slow_request)),

      Duration("drain-grace", kProcess,
               "After SIGTERM, how long to serve on while not ready",
               FIELD(drain_grace)),
      Duration("drain-timeout", kProcess,
               "And then, how long to finish what runs", FIELD(drain_timeout)),
      Flag("enable-echo-for-benchmarks", kProcess,
           "Serve tensord.bench.v1.Echo, which returns the bytes it gets",
           FIELD(enable_echo_for_benchmarks)),
  };
}

#undef FIELD

}  // namespace

const std::vector<Option>& OptionTable() {
  static const std::vector<Option>& table = *new std::vector(MakeTable());
  return table;
}

std::string VariableName(absl::string_view option_name) {
  return absl::StrCat("TENSORD_", absl::AsciiStrToUpper(absl::StrReplaceAll(
                                      option_name, {{"-", "_"}})));
}

}  // namespace tensord
