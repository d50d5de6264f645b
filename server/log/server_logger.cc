#include "server/log/server_logger.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "server/log/log_format.h"

namespace tensord {
namespace {

spdlog::level::level_enum ToSpdlog(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kDebug:
      return spdlog::level::debug;
    case LogSeverity::kInfo:
      return spdlog::level::info;
    case LogSeverity::kWarning:
      return spdlog::level::warn;
    case LogSeverity::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

ServerLogger::ServerLogger(const Options& options,
                           std::shared_ptr<spdlog::sinks::sink> sink)
    : options_(options),
      lines_(std::make_unique<spdlog::logger>(
          "tensord", sink != nullptr
                         ? std::move(sink)
                         : std::make_shared<spdlog::sinks::stderr_sink_mt>())) {
  // The line is made whole by log_format.h, where escaping can be tested.
  lines_->set_pattern("%v");
  lines_->set_level(ToSpdlog(options.level));
  lines_->flush_on(spdlog::level::warn);
  // A log that cannot be written (a full disk) must not end the daemon, nor
  // throw through a caller.
  lines_->set_error_handler([](const std::string&) {});
}

ServerLogger::~ServerLogger() { Flush(); }

void ServerLogger::Log(LogSeverity severity, absl::string_view event,
                       absl::Span<const Field> fields) {
  if (!is_enabled(severity)) return;
  const LogEvent line = {absl::Now(), severity, event, fields};
  const std::string text =
      options_.is_json ? FormatLogJson(line) : FormatLogText(line);
  lines_->log(ToSpdlog(severity), spdlog::string_view_t(text));
}

void ServerLogger::Flush() { lines_->flush(); }

}  // namespace tensord
