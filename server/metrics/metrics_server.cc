#include "server/metrics/metrics_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <exception>
#include <thread>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/notification.h"
#include "absl/time/time.h"
#include "prometheus/exposer.h"

namespace tensord::metrics {
namespace {

struct Endpoint {
  std::string host;  // as civetweb wants it: "127.0.0.1", "[::1]"
  uint16_t port = 0;
  bool is_loopback = false;
};

absl::Status BadAddress(absl::string_view address) {
  return absl::InvalidArgumentError(
      absl::StrCat("metrics address '", address,
                   "' is not HOST:PORT with an IPv4 address, an IPv6 address "
                   "in brackets or localhost, and a port from 0 to 65535"));
}

// Connects to the endpoint and hangs up.
void Knock(absl::string_view host, uint16_t port) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  const sockaddr* address = reinterpret_cast<const sockaddr*>(&v4);
  socklen_t length = sizeof(v4);
  if (absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]")) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    inet_pton(AF_INET6, std::string(host).c_str(), &v6.sin6_addr);
    address = reinterpret_cast<const sockaddr*>(&v6);
    length = sizeof(v6);
  } else {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    inet_pton(AF_INET, std::string(host).c_str(), &v4.sin_addr);
  }
  const int fd =
      socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return;
  // Whether it succeeds does not matter: at worst the server notices by itself.
  static_cast<void>(connect(fd, address, length));
  close(fd);
}

// Strict, since civetweb reads more into the text: lists, TLS, redirects.
absl::StatusOr<Endpoint> ParseEndpoint(absl::string_view address) {
  const size_t colon = address.rfind(':');
  if (colon == absl::string_view::npos) return BadAddress(address);
  absl::string_view host = address.substr(0, colon);
  const absl::string_view port_text = address.substr(colon + 1);
  Endpoint endpoint;
  uint32_t port = 0;
  if (port_text.empty() || port_text.size() > 5 ||
      port_text.find_first_not_of("0123456789") != absl::string_view::npos ||
      !absl::SimpleAtoi(port_text, &port) || port > 65535) {
    return BadAddress(address);
  }
  endpoint.port = static_cast<uint16_t>(port);
  if (host == "localhost") host = "127.0.0.1";
  endpoint.host = std::string(host);
  if (absl::ConsumePrefix(&host, "[") && absl::ConsumeSuffix(&host, "]")) {
    in6_addr parsed{};
    if (inet_pton(AF_INET6, std::string(host).c_str(), &parsed) != 1) {
      return BadAddress(address);
    }
    endpoint.is_loopback = IN6_IS_ADDR_LOOPBACK(&parsed);
    return endpoint;
  }
  in_addr parsed{};
  if (inet_pton(AF_INET, endpoint.host.c_str(), &parsed) != 1) {
    return BadAddress(address);
  }
  endpoint.is_loopback = (ntohl(parsed.s_addr) >> 24) == 127;
  return endpoint;
}

}  // namespace

absl::StatusOr<std::unique_ptr<MetricsServer>> MetricsServer::Start(
    const MetricsServerOptions& options,
    std::shared_ptr<prometheus::Collectable> page) {
  const absl::StatusOr<Endpoint> endpoint = ParseEndpoint(options.address);
  if (!endpoint.ok()) return endpoint.status();
  if (!endpoint->is_loopback && !options.allow_remote) {
    return absl::InvalidArgumentError(absl::StrCat(
        "metrics address '", options.address,
        "' is not loopback, and the page has neither TLS nor a login"));
  }
  // The exposer and the web server below it report by exceptions.
  try {
    auto exposer =
        std::make_unique<prometheus::Exposer>(std::vector<std::string>{
            "listening_ports",
            absl::StrCat(endpoint->host, ":", endpoint->port), "num_threads",
            "2",
            // A scraper that stops reading does not keep a thread.
            "request_timeout_ms", "10000"});
    const std::vector<int> ports = exposer->GetListeningPorts();
    if (ports.empty()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "metrics: cannot listen on ", options.address, ": no port is open"));
    }
    exposer->RegisterCollectable(page, "/metrics");
    return absl::WrapUnique(
        new MetricsServer(std::move(page), std::move(exposer), endpoint->host,
                          static_cast<uint16_t>(ports.front())));
  } catch (const std::exception& error) {
    return absl::FailedPreconditionError(absl::StrCat(
        "metrics: cannot listen on ", options.address, ": ", error.what()));
  }
}

MetricsServer::MetricsServer(std::shared_ptr<prometheus::Collectable> page,
                             std::unique_ptr<prometheus::Exposer> exposer,
                             std::string host, uint16_t port)
    : page_(std::move(page)),
      exposer_(std::move(exposer)),
      host_(std::move(host)),
      port_(port) {}

MetricsServer::~MetricsServer() {
  // The web server looks whether it should stop when a connection comes, or
  // every 2 s. Connections make it look now.
  absl::Notification is_stopped;
  std::thread knocker([this, &is_stopped] {
    do {
      Knock(host_, port_);
    } while (!is_stopped.WaitForNotificationWithTimeout(absl::Milliseconds(5)));
  });
  exposer_.reset();
  is_stopped.Notify();
  knocker.join();
}

std::string MetricsServer::address() const {
  return absl::StrCat(host_, ":", port_);
}

}  // namespace tensord::metrics
