#ifndef TENSORD_SERVER_CONFIG_SERVER_CONFIG_H_
#define TENSORD_SERVER_CONFIG_SERVER_CONFIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "backends/api/host_services.h"
#include "engine/engine_options.h"
#include "engine/profile/profile_snapshot.h"
#include "server/config/device_selection.h"

namespace tensord {

enum class LogFormat : uint8_t { kText, kJson };

// Everything that an operator may set, in one place. The names of the options
// (flags, variables, keys of the file) are in option_table.cc, and the defaults
// are here.
//
// Threading and ownership: a plain value, made and validated once at start
//   (load_config.h) and never changed after.
struct ServerConfig {
  // Addresses.
  std::vector<std::string> listen = {"127.0.0.1:8500"};
  std::string metrics_listen = "127.0.0.1:8501";  // empty: no metrics page
  bool insecure = false;
  std::string tls_cert;  // reserved
  std::string tls_key;   // reserved
  std::string port_file;
  std::string advertised_name = "tensord";

  // Devices.
  std::vector<std::string> device_names = {"auto"};
  std::vector<DeviceSelection> devices =
      *SelectDevices("auto");  // of device_names
  std::string plugin_dir;      // empty: where the program is
  int64_t threads = 0;  // 0: what the machine and its control group allow

  // The engine, limits on graphs included.
  EngineOptions engine = {.calibrate_devices = true};

  // Requests.
  int64_t max_message_bytes = int64_t{64} << 20;
  int64_t max_upload_bytes = int64_t{4} << 30;
  int64_t max_ingress_bytes = int64_t{2} << 30;
  int64_t upload_budget_bytes = int64_t{4} << 30;  // of uploads under way
  absl::Duration upload_idle_timeout = absl::Seconds(60);
  int64_t max_concurrent_streams = 256;
  int64_t max_trace_rows = 10'000;
  int64_t max_watchers = 64;
  absl::Duration slow_request = absl::Seconds(10);
  // Runs of one stream that have not been answered.
  int64_t max_stream_executions = 64;
  absl::Duration max_wait_time = absl::Minutes(10);
  // Then a connection is asked to go, and its calls may still end.
  absl::Duration max_connection_age = absl::Hours(1);

  // Sessions and what they own.
  int64_t max_sessions = 1000;  // of one principal
  absl::Duration session_time = absl::Minutes(10);
  absl::Duration max_session_time = absl::Hours(24);
  int64_t max_session_executions = 1024;
  int64_t max_session_requests = 100'000;
  int64_t max_session_bytes = int64_t{4} << 30;
  int64_t max_resident_bytes = int64_t{8} << 30;
  absl::Duration upload_keep_time = absl::Minutes(10);
  absl::Duration result_time = absl::Minutes(10);
  absl::Duration max_result_time = absl::Hours(1);
  int64_t max_result_bytes = int64_t{1} << 30;
  int64_t max_ended_executions = 10'000;

  // Profile.
  op_profile::ProfileConfig op_profile = {.mode = op_profile::Mode::kSampled};

  // Log.
  LogFormat log_format = LogFormat::kText;
  LogSeverity log_level = LogSeverity::kInfo;

  // End.
  absl::Duration drain_grace = absl::ZeroDuration();
  absl::Duration drain_timeout = absl::Seconds(30);

  bool enable_echo_for_benchmarks = false;
};

// Whether an address can be reached from this machine alone: "unix:/path",
// "localhost:1", "127.0.0.1:1", "[::1]:1".
bool IsLoopback(absl::string_view address);

// What no single option can tell: addresses without a port, public ones without
// --insecure, devices that are named twice, and what depends on two options.
// Fills `devices`. kInvalidArgument with the option's name and what would be
// right.
absl::Status Validate(ServerConfig& config);

}  // namespace tensord

#endif  // TENSORD_SERVER_CONFIG_SERVER_CONFIG_H_
