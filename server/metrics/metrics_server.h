#ifndef TENSORD_SERVER_METRICS_METRICS_SERVER_H_
#define TENSORD_SERVER_METRICS_METRICS_SERVER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "prometheus/collectable.h"

namespace prometheus {
class Exposer;
}

namespace tensord::metrics {

struct MetricsServerOptions {
  // "HOST:PORT": an IPv4 address, an IPv6 address in brackets, or localhost.
  // Port 0 takes a free one.
  std::string address = "127.0.0.1:0";
  // The page is plain HTTP without a login, so an address that others can
  // reach must be asked for.
  bool allow_remote = false;
};

// Serves one page at /metrics.
//
// Threading: two threads of its own answer scrapes; the methods are
// thread-safe. Ownership: shares the page; its destructor waits for scrapes
// that run. Errors of Start: kInvalidArgument for an address that is none, or
// that is
//   not loopback without `allow_remote`; kFailedPrecondition if it cannot
//   listen there (the port is taken).
class MetricsServer {
 public:
  static absl::StatusOr<std::unique_ptr<MetricsServer>> Start(
      const MetricsServerOptions& options,
      std::shared_ptr<prometheus::Collectable> page);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;

  // The port that it listens on.
  uint16_t port() const { return port_; }
  // "127.0.0.1:9464": where it listens.
  std::string address() const;

 private:
  MetricsServer(std::shared_ptr<prometheus::Collectable> page,
                std::unique_ptr<prometheus::Exposer> exposer, std::string host,
                uint16_t port);

  const std::shared_ptr<prometheus::Collectable> page_;
  std::unique_ptr<prometheus::Exposer> exposer_;
  const std::string host_;
  const uint16_t port_;
};

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_METRICS_SERVER_H_
