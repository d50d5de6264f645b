#ifndef TENSORD_BACKENDS_API_HOST_SERVICES_H_
#define TENSORD_BACKENDS_API_HOST_SERVICES_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tensord {

// Threads that one kernel spreads its work over. One pool serves every CPU
// device of the process, so that lanes do not oversubscribe the machine.
//
// Threading: ParallelFor may be called from any thread, many at once, and
//   from inside itself (the inner call then runs on the calling thread).
// Ownership: the host owns it; it outlives every device.
class WorkerPool {
 public:
  virtual ~WorkerPool() = default;

  // How many threads work on one ParallelFor at most, the caller included.
  virtual int concurrency() const = 0;

  // Calls `body(begin, end)` for ranges that together cover [0, count) once,
  // each of at least `grain` indices but for the last; returns when all are
  // done. Allocates nothing. `body` must not throw and must not block.
  virtual void ParallelFor(
      int64_t count, int64_t grain,
      absl::FunctionRef<void(int64_t begin, int64_t end)> body) = 0;
};

enum class LogSeverity : uint8_t { kDebug, kInfo, kWarning, kError };

// Where a backend's events go: one line each.
// Threading: thread-safe. Ownership: the host owns it; outlives every device.
class Logger {
 public:
  using Field = std::pair<absl::string_view, std::string>;

  virtual ~Logger() = default;

  // `event` is a short constant such as "device lost"; values may be anything,
  // the logger escapes them.
  virtual void Log(LogSeverity severity, absl::string_view event,
                   absl::Span<const Field> fields) = 0;
};

// What the host lends to a backend. No backend keeps mutable state of its own
// that the host should share (a plugin would have a second copy).
//
// Threading: immutable. Ownership: borrows; everything outlives the backend.
struct HostServices {
  WorkerPool* workers = nullptr;
  Logger* logger = nullptr;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_HOST_SERVICES_H_
