#ifndef TENSORD_SERVER_LOG_SERVER_LOGGER_H_
#define TENSORD_SERVER_LOG_SERVER_LOGGER_H_

#include <memory>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/host_services.h"

namespace spdlog {
class logger;
namespace sinks {
class sink;
}
}  // namespace spdlog

namespace tensord {

// The process' log: one line per event on standard error, text or JSON.
//
// Threading: thread-safe; a line is written whole. An event below the level
//   costs a comparison, but ask is_enabled() before building costly fields.
// Ownership: outlives everything that it is lent to.
class ServerLogger final : public Logger {
 public:
  struct Options {
    bool is_json = false;
    LogSeverity level = LogSeverity::kInfo;
  };

  // `sink`: where lines go instead, for tests.
  explicit ServerLogger(const Options& options,
                        std::shared_ptr<spdlog::sinks::sink> sink = nullptr);
  ~ServerLogger() override;

  bool is_enabled(LogSeverity severity) const {
    return severity >= options_.level;
  }

  void Log(LogSeverity severity, absl::string_view event,
           absl::Span<const Field> fields) override;

  // Everything logged so far is with the system when it returns.
  void Flush();

 private:
  const Options options_;
  const std::unique_ptr<spdlog::logger> lines_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_LOG_SERVER_LOGGER_H_
