#include "server/rpc/grpc_log.h"

#include <grpc/support/log.h>

#include <atomic>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/log/rate_limit.h"

namespace tensord {
namespace {

constexpr int kMaxLinesPerSecond = 5;

std::atomic<ServerLogger*>& Target() {
  static std::atomic<ServerLogger*> target{nullptr};
  return target;
}

void Log(gpr_log_func_args* args) {
  static LogRateLimit& limit = *new LogRateLimit(kMaxLinesPerSecond);
  ServerLogger* log = Target().load(std::memory_order_acquire);
  const LogSeverity severity = args->severity == GPR_LOG_SEVERITY_ERROR
                                   ? LogSeverity::kWarning
                                   : LogSeverity::kDebug;
  int64_t left_out = 0;
  if (log == nullptr || !log->is_enabled(severity) || !limit.Admit(left_out)) {
    return;
  }
  std::vector<Logger::Field> fields = {{"message", args->message}};
  if (left_out > 0) {
    fields.emplace_back("lines_left_out", absl::StrCat(left_out));
  }
  log->Log(severity, "grpc", fields);
}

}  // namespace

void SendGrpcLogTo(ServerLogger& log) {
  Target().store(&log, std::memory_order_release);
  gpr_set_log_function(&Log);
}

}  // namespace tensord
