#ifndef TENSORD_SERVER_LOG_LOG_FORMAT_H_
#define TENSORD_SERVER_LOG_LOG_FORMAT_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/host_services.h"

namespace tensord {

// How one event becomes one line, whatever is in its values: control
// characters, quotes and bytes that are not UTF-8 are escaped, and a value
// above kMaxLogValueBytes is cut. Lines have no line feed.
//
// Threading and ownership: pure functions.

inline constexpr size_t kMaxLogValueBytes = 4096;

struct LogEvent {
  absl::Time time;
  LogSeverity severity = LogSeverity::kInfo;
  absl::string_view name;
  absl::Span<const Logger::Field> fields;
};

// "2026-01-31T12:00:00.123Z info device lost device=cpu:0 why="it is \"gone\"""
std::string FormatLogText(const LogEvent& event);

// {"time":"...","severity":"info","event":"device lost","device":"cpu:0"}
std::string FormatLogJson(const LogEvent& event);

}  // namespace tensord

#endif  // TENSORD_SERVER_LOG_LOG_FORMAT_H_
