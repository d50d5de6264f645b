#include "server/config/server_config.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace tensord {
namespace {

constexpr size_t kMaxNameBytes = 63;
// sockaddr_un.sun_path, with its terminating zero.
constexpr size_t kMaxSocketPathBytes = 107;

absl::Status Wrong(absl::string_view option, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("--", option, ": ", what));
}

absl::Status CheckAddress(absl::string_view option, absl::string_view address,
                          bool is_insecure) {
  if (absl::ConsumePrefix(&address, "unix:")) {
    if (address.empty() || address.size() > kMaxSocketPathBytes) {
      return Wrong(
          option, absl::StrCat("a socket's path has 1 to ", kMaxSocketPathBytes,
                               " bytes, not ", address.size()));
    }
    return absl::OkStatus();
  }
  const size_t colon = address.rfind(':');
  int port;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(address.substr(colon + 1), &port) || port < 0 ||
      port > 65535) {
    return Wrong(option,
                 absl::StrCat("'", address,
                              "' is not right; give HOST:PORT with a port from "
                              "0 to 65535, such as 127.0.0.1:8500"));
  }
  if (!is_insecure && !IsLoopback(address)) {
    return Wrong(option,
                 absl::StrCat("'", address,
                              "' can be reached from other machines, and this "
                              "version has no TLS; give a loopback address, or "
                              "--insecure as well"));
  }
  return absl::OkStatus();
}

absl::Status ReadDevices(ServerConfig& config) {
  config.devices.clear();
  for (const std::string& name : config.device_names) {
    const auto selections = SelectDevices(name);
    if (!selections.has_value()) {
      return Wrong("devices",
                   absl::StrCat("'", name,
                                "' is no device; give backend and number, such "
                                "as cpu:0 or cuda:1, a backend for all of its "
                                "devices, or auto"));
    }
    for (const DeviceSelection& selection : *selections) {
      if (std::find(config.devices.begin(), config.devices.end(), selection) !=
          config.devices.end()) {
        return Wrong("devices", absl::StrCat("'", name, "' is there twice"));
      }
      config.devices.push_back(selection);
    }
  }
  if (config.devices.empty()) {
    return Wrong("devices", "there is none; give at least one, such as cpu:0");
  }
  return absl::OkStatus();
}

bool IsInstanceName(absl::string_view name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

}  // namespace

bool IsLoopback(absl::string_view address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const absl::string_view host = address.substr(0, address.rfind(':'));
  // A name such as 127.example.com is no address.
  const bool is_127 =
      absl::StartsWith(host, "127.") &&
      std::all_of(host.begin(), host.end(), [](unsigned char c) {
        return absl::ascii_isdigit(c) || c == '.';
      });
  return is_127 || host == "localhost" || host == "[::1]";
}

absl::Status Validate(ServerConfig& config) {
  if (!config.tls_cert.empty() || !config.tls_key.empty()) {
    return Wrong(config.tls_cert.empty() ? "tls-key" : "tls-cert",
                 "TLS is not in this version; serve on a loopback address "
                 "behind a proxy that has it");
  }
  if (config.listen.empty()) {
    return Wrong("listen", "there is none; give at least one HOST:PORT");
  }
  for (const std::string& address : config.listen) {
    const absl::Status status =
        CheckAddress("listen", address, config.insecure);
    if (!status.ok()) return status;
  }
  if (config.metrics_listen == "off") config.metrics_listen.clear();
  if (!config.metrics_listen.empty()) {
    if (absl::StartsWith(config.metrics_listen, "unix:")) {
      return Wrong("metrics-listen",
                   "a scrape needs HOST:PORT, not a unix socket");
    }
    const absl::Status status =
        CheckAddress("metrics-listen", config.metrics_listen, config.insecure);
    if (!status.ok()) return status;
  }
  if (!IsInstanceName(config.advertised_name)) {
    return Wrong(
        "advertised-name",
        absl::StrCat("'", config.advertised_name, "' is not right; give 1 to ",
                     kMaxNameBytes, " of a to z, 0 to 9 and -"));
  }
  if (config.upload_budget_bytes < config.max_upload_bytes) {
    return Wrong(
        "upload-budget-bytes",
        absl::StrCat(config.upload_budget_bytes,
                     " is below --max-upload-bytes ", config.max_upload_bytes,
                     ", so that the largest upload would never "
                     "begin; give at least that"));
  }
  if (config.session_time > config.max_session_time) {
    return Wrong("session-time",
                 absl::StrCat(absl::FormatDuration(config.session_time),
                              " is above --max-session-time ",
                              absl::FormatDuration(config.max_session_time),
                              "; give at most that"));
  }
  if (config.result_time > config.max_result_time) {
    return Wrong("result-time",
                 absl::StrCat(absl::FormatDuration(config.result_time),
                              " is above --max-result-time ",
                              absl::FormatDuration(config.max_result_time),
                              "; give at most that"));
  }
  if (config.max_ingress_bytes < config.max_message_bytes) {
    return Wrong(
        "max-ingress-bytes",
        absl::StrCat(config.max_ingress_bytes, " is below --max-message-bytes ",
                     config.max_message_bytes, "; give at least it"));
  }
  return ReadDevices(config);
}

}  // namespace tensord
