// The daemon: the one file that knows which parts there are. It makes them, in
// the order in which they need each other, and takes them out of use again.

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "backends/api/host_memory_budget.h"
#include "backends/api/revisions.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/cpu_count.h"
#include "backends/cpu/host_memory.h"
#include "backends/cpu/host_worker_pool.h"
#include "backends/null/null_backend.h"
#include "engine/engine.h"
#include "engine/graph/status_macros.h"
#include "engine/profile/op_profile.h"
#include "engine/profile/phase_profile.h"
#include "server/config/load_config.h"
#include "server/config/memory_plan.h"
#include "server/config/option_values.h"
#include "server/log/server_logger.h"
#include "server/metrics/metrics_collector.h"
#include "server/metrics/metrics_server.h"
#include "server/plugins/backend_plugin.h"
#include "server/process/port_file.h"
#include "server/process/termination.h"
#include "server/rpc/api_services.h"
#include "server/rpc/grpc_log.h"
#include "server/rpc/make_holdings.h"
#include "server/rpc/rpc_server.h"

namespace tensord {
namespace {

constexpr absl::string_view kVersion = TENSORD_VERSION;
constexpr int kUsageError = 2;
// How long after the drain deadline what was cancelled may take to say so.
constexpr absl::Duration kLastAnswers = absl::Milliseconds(500);

// Large blocks are used again instead of given back: a fresh page costs more
// than the copy into it. 32 MiB is the most that the library takes here. What
// lies idle so is nobody's budget's, so where there is little memory it is
// less.
void TuneAllocator(uint64_t memory_bytes) {
  const auto bytes = [memory_bytes](uint64_t most, int part) {
    return static_cast<int>(std::min(most, memory_bytes / part));
  };
  mallopt(M_MMAP_THRESHOLD, bytes(uint64_t{32} << 20, 128));
  mallopt(M_TRIM_THRESHOLD, bytes(uint64_t{512} << 20, 32));
}

// The backends that the configuration names, and why another has no device.
class Backends {
 public:
  Backends(const ServerConfig& config, const HostServices& services,
           HostMemoryBudget& host_memory) {
    const auto selected = [&config](BackendId id) {
      return std::count_if(
          config.devices.begin(), config.devices.end(),
          [id](const DeviceSelection& s) { return s.backend == id; });
    };
    if (const auto cpu_devices = selected(BackendId::kCpu); cpu_devices > 0) {
      // Devices of the CPU share one memory, and so its limit.
      Add(MakeCpuBackend(services, {.memory_limit_bytes =
                                        host_memory.limit_bytes() / cpu_devices,
                                    .host_memory = &host_memory}));
    }
    if (selected(BackendId::kNull) > 0) Add(MakeNullBackend(services));
    for (BackendId id : {BackendId::kCuda, BackendId::kVulkan}) {
      if (selected(id) > 0) {
        AddPlugin(config, id, services);
      } else {
        unavailable_.emplace_back(id, "not in --devices");
      }
    }
  }

  const std::vector<Backend*>& all() const { return all_; }
  const std::vector<std::pair<BackendId, std::string>>& unavailable() const {
    return unavailable_;
  }

  // What ResolveDevices asks.
  DeviceCount Count(BackendId id) const {
    for (const Backend* backend : all_) {
      if (backend->id() == id) return {backend->device_count(), ""};
    }
    for (const auto& [unavailable, why] : unavailable_) {
      if (unavailable == id) return {0, why};
    }
    return {0, "no such backend"};
  }

 private:
  void Add(std::unique_ptr<Backend> backend) {
    all_.push_back(backend.get());
    owned_.push_back(std::move(backend));
  }

  // A backend of a library of its own, or the reason why it is not there.
  void AddPlugin(const ServerConfig& config, BackendId id,
                 const HostServices& services) {
    const std::string path =
        BackendPluginPath(config.plugin_dir, BackendName(id));
    absl::StatusOr<std::unique_ptr<Backend>> backend =
        OpenBackendPlugin(path, services);
    std::string why;
    if (!backend.ok()) {
      why = std::string(backend.status().message());
    } else if ((*backend)->device_count() == 0) {
      why = (*backend)->why_none();
    } else {
      Add(*std::move(backend));
      return;
    }
    const std::vector<Logger::Field> fields = {
        {"backend", std::string(BackendName(id))}, {"why", why}};
    services.logger->Log(LogSeverity::kInfo, "backend unavailable", fields);
    unavailable_.emplace_back(id, why);
  }

  std::vector<std::unique_ptr<Backend>> owned_;
  std::vector<Backend*> all_;
  std::vector<std::pair<BackendId, std::string>> unavailable_;
};

void LogStart(const ServerConfig& config, const Engine& engine,
              const RpcServer& server, const std::string& metrics_address,
              ServerLogger& log) {
  for (const DeviceStatus& status : engine.Devices()) {
    const std::vector<Logger::Field> fields = {
        {"device", status.info.id.ToString()},
        {"description", status.info.description},
        {"memory_limit",
         FormatBytes(static_cast<int64_t>(status.info.memory_limit_bytes))},
        {"lanes", absl::StrCat(status.lane_count)}};
    log.Log(LogSeverity::kInfo, "device", fields);
  }
  const std::vector<Logger::Field> budget = {
      {"max_message_bytes", FormatBytes(config.max_message_bytes)},
      {"max_concurrent_streams", absl::StrCat(config.max_concurrent_streams)},
      {"one_connection",
       FormatBytes(config.max_message_bytes * config.max_concurrent_streams)},
      {"max_ingress_bytes", FormatBytes(config.max_ingress_bytes)}};
  log.Log(LogSeverity::kInfo, "ingress budget", budget);
  const std::vector<Logger::Field> addresses = {
      {"grpc", absl::StrJoin(server.addresses(), ",")},
      {"metrics", metrics_address.empty()
                      ? "off"
                      : absl::StrCat("http://", metrics_address, "/metrics")}};
  log.Log(LogSeverity::kInfo, "serving", addresses);
}

void LogMemory(const ServerConfig& config, uint64_t memory_bytes,
               uint64_t shared_bytes, ServerLogger& log) {
  const auto text = [](uint64_t bytes) {
    return FormatBytes(static_cast<int64_t>(bytes));
  };
  const std::vector<Logger::Field> fields = {
      {"limit", text(memory_bytes)},
      {"shared", text(shared_bytes)},
      {"max_ingress_bytes", FormatBytes(config.max_ingress_bytes)},
      {"upload_budget_bytes", FormatBytes(config.upload_budget_bytes)},
      {"graph_cache_bytes", text(config.engine.graph_cache_bytes)},
      {"max_resident_bytes", FormatBytes(config.max_resident_bytes)}};
  log.Log(LogSeverity::kInfo, "memory", fields);
}

// Not ready, then GOAWAY, then the end of what runs.
void Drain(const ServerConfig& config, RpcServer& server, Engine& engine,
           const metrics::ExecutionMetrics& executions, const char* signal,
           ServerLogger& log) {
  const std::vector<Logger::Field> fields = {
      {"signal", signal},
      {"grace", absl::FormatDuration(config.drain_grace)},
      {"timeout", absl::FormatDuration(config.drain_timeout)}};
  log.Log(LogSeverity::kInfo, "draining", fields);
  server.StopServing();
  absl::SleepFor(config.drain_grace);
  const absl::Time deadline = absl::Now() + config.drain_timeout;
  // Runs are refused from here on, one by one also on streams that are open;
  // what was accepted ends, and its clients can still wait for it.
  engine.StopAccepting();
  server.StopAdmitting();
  engine.AwaitIdle(deadline);
  const bool is_done = server.Shutdown(deadline);
  if (!is_done) absl::SleepFor(kLastAnswers);
  // How all runs ended, so that who counts their answers can compare.
  std::vector<Logger::Field> end = {
      {"cut_off", is_done ? "nothing" : "calls that were still running"}};
  for (size_t i = 0; i < metrics::kExecutionOutcomeCount; ++i) {
    const auto outcome = static_cast<metrics::ExecutionOutcome>(i);
    end.push_back({metrics::ExecutionOutcomeName(outcome),
                   absl::StrCat(executions.count(outcome))});
  }
  log.Log(is_done ? LogSeverity::kInfo : LogSeverity::kWarning, "stopped", end);
}

// `config` has been fitted to the memory that there is, of which
// `shared_bytes` are for what is large.
absl::Status Serve(const ServerConfig& config, uint64_t shared_bytes,
                   ServerLogger& log) {
  BlockTerminationSignals();
  SendGrpcLogTo(log);

  HostWorkerPool workers(config.threads > 0 ? static_cast<int>(config.threads)
                                            : CpuCount());
  const HostServices services = {&workers, &log};
  HostMemoryBudget host_memory(shared_bytes);
  const Backends backends(config, services, host_memory);
  TENSORD_ASSIGN_OR_RETURN(const std::vector<DeviceId> devices,
                           ResolveDevices(config.devices, [&](BackendId id) {
                             return backends.Count(id);
                           }));
  op_profile::OpProfile profile;
  TENSORD_RETURN_IF_ERROR(profile.Configure(config.op_profile));
  op_profile::PhaseProfile phases;
  metrics::RequestMetrics requests(ApiMethods());
  metrics::ExecutionMetrics executions;
  EngineObserver observer(config.engine.max_queue_length);
  ActiveCalls active_calls;
  TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<Engine> engine,
                           Engine::Create(config.engine, backends.all(),
                                          devices, profile, &phases, services));
  engine->buffers().UseBudget(&host_memory);
  const std::unique_ptr<Holdings> holdings = MakeHoldings(config, *engine);
  engine->SetCompileObserver([&observer](const CompileEvent& event) {
    observer.RecordCompilation(event);
  });

  std::unique_ptr<metrics::MetricsServer> page;
  if (!config.metrics_listen.empty()) {
    auto collector =
        std::make_shared<metrics::MetricsCollector>(metrics::MetricSources{
            .op_profile = &profile,
            .phases = &phases,
            .requests = &requests,
            .executions = &executions,
            .engine_stats = [&] { return observer.Stats(*engine); },
            .holdings_stats = [&] { return HoldingsStatsOf(*holdings); },
            .build_info = {.version = std::string(kVersion),
                           .revision = std::string(BuildId()),
                           .compiler = __VERSION__,
                           .build_type = TENSORD_BUILD_TYPE}});
    TENSORD_ASSIGN_OR_RETURN(
        page, metrics::MetricsServer::Start({.address = config.metrics_listen,
                                             .allow_remote = config.insecure},
                                            std::move(collector)));
  }

  const ServiceEnvironment environment = {
      .config = config,
      .engine = *engine,
      .holdings = *holdings,
      .profile = profile,
      .phases = phases,
      .requests = requests,
      .executions = executions,
      .observer = observer,
      .active_calls = active_calls,
      .log = log,
      .build = absl::StrCat(kVersion, " (", BuildId(), ")"),
      .unavailable_backends = backends.unavailable(),
      .host_memory = &host_memory};
  TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<RpcServer> server,
                           RpcServer::Start(environment));
  const std::string metrics_address = page == nullptr ? "" : page->address();
  LogStart(config, *engine, *server, metrics_address, log);
  if (!config.port_file.empty()) {
    TENSORD_RETURN_IF_ERROR(
        WritePortFile(config.port_file, server->addresses(), metrics_address));
  }

  const char* signal = AwaitTermination();
  Drain(config, *server, *engine, executions, signal, log);
  log.Flush();
  std::fflush(nullptr);
  // Not a return: after large answers gRPC may take ten seconds to join its own
  // threads, and nothing that a destructor does matters to the system.
  _exit(0);
}

int Main(int argc, char** argv) {
  absl::StatusOr<Startup> startup =
      LoadConfig(argc, argv, ReadEnvironment,
                 absl::StrCat(kVersion, " (", BuildId(), ")"));
  if (!startup.ok()) {
    std::fprintf(stderr, "tensord: %s\n",
                 std::string(startup.status().message()).c_str());
    return kUsageError;
  }
  if (startup->text_to_print.has_value()) {
    std::fputs(startup->text_to_print->c_str(), stdout);
    return 0;
  }
  ServerConfig& config = startup->config;
  const uint64_t memory_bytes = HostMemoryLimitBytes();
  TuneAllocator(memory_bytes);
  const uint64_t shared_bytes =
      FitToMemory(memory_bytes, startup->given, config);
  ServerLogger log({.is_json = config.log_format == LogFormat::kJson,
                    .level = config.log_level});
  LogMemory(config, memory_bytes, shared_bytes, log);
  const absl::Status status = Serve(config, shared_bytes, log);
  const std::vector<Logger::Field> fields = {
      {"why", std::string(status.message())}};
  log.Log(LogSeverity::kError, "cannot start", fields);
  log.Flush();
  _exit(1);
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) { return tensord::Main(argc, argv); }
