#include "server/rpc/request_record.h"

#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "engine/profile/clock.h"
#include "server/log/rate_limit.h"
#include "server/log/trace_context.h"
#include "server/rpc/principal.h"
#include "server/rpc/rejection.h"
#include "server/rpc/status_mapping.h"

namespace tensord {
namespace {

// Lines about failed requests a second: enough to see what goes wrong, and no
// client fills a disk by being wrong.
constexpr int kMaxFailureLinesPerSecond = 20;

LogRateLimit& FailureLines() {
  static LogRateLimit& limit = *new LogRateLimit(kMaxFailureLinesPerSecond);
  return limit;
}

LogSeverity SeverityOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kDataLoss:
      return LogSeverity::kError;
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kResourceExhausted:
      return LogSeverity::kWarning;
    default:
      return LogSeverity::kInfo;
  }
}

// Empty when there is none, or more than one.
std::string SentTraceId(const grpc::CallbackServerContext& context) {
  const auto& metadata = context.client_metadata();
  const auto [first, last] = metadata.equal_range("traceparent");
  if (first == last || std::next(first) != last) return {};
  return std::string(
      TraceIdOf(absl::string_view(first->second.data(), first->second.size())));
}

}  // namespace

MethodRecord::MethodRecord(const ServiceEnvironment& environment,
                           std::string full_name)
    : environment(environment),
      full_name(std::move(full_name)),
      metrics_index(
          environment.requests.Find(this->full_name).value_or(kNoMetrics)) {}

RequestRecord::RequestRecord(const MethodRecord& method)
    : method_(&method), start_ticks_(op_profile::TickClock::Get().Now()) {}

grpc::Status RequestRecord::End(const absl::Status& status,
                                const grpc::CallbackServerContext& context) {
  const ServiceEnvironment& environment = method_->environment;
  const auto clock = op_profile::TickClock::Get();
  const uint64_t duration_ns =
      clock.ToNs(clock.Elapsed(start_ticks_, clock.Now()));
  if (method_->metrics_index != MethodRecord::kNoMetrics) {
    environment.requests.Record(method_->metrics_index, status.code(),
                                duration_ns, request_bytes_);
  }
  if (status.ok() && !IsSlow(duration_ns) &&
      !environment.log.is_enabled(LogSeverity::kDebug)) {
    return grpc::Status::OK;
  }
  if (const auto reason = RejectionOf(status); reason.has_value()) {
    environment.executions.RecordRejection(*reason);
  }
  const std::string& trace_id = TraceId(context);
  Log(status, duration_ns, context);
  return ToGrpcStatus(status, trace_id);
}

const std::string& RequestRecord::TraceId(
    const grpc::CallbackServerContext& context) {
  if (trace_id_.empty()) trace_id_ = SentTraceId(context);
  if (trace_id_.empty()) trace_id_ = NewTraceId();
  return trace_id_;
}

bool RequestRecord::IsSlow(uint64_t duration_ns) const {
  const absl::Duration slow = method_->environment.config.slow_request;
  return slow > absl::ZeroDuration() && absl::Nanoseconds(duration_ns) > slow;
}

void RequestRecord::Log(const absl::Status& status, uint64_t duration_ns,
                        const grpc::CallbackServerContext& context) const {
  ServerLogger& log = method_->environment.log;
  LogSeverity severity = LogSeverity::kDebug;
  absl::string_view event = "request";
  int64_t left_out = 0;
  if (!status.ok()) {
    event = "request failed";
    if (FailureLines().Admit(left_out)) severity = SeverityOf(status);
  } else if (IsSlow(duration_ns)) {
    event = "slow request";
    severity = LogSeverity::kWarning;
  }
  if (!log.is_enabled(severity)) return;
  std::vector<Logger::Field> fields = {
      {"method", method_->full_name},
      {"code", absl::StatusCodeToString(status.code())},
      {"duration_us", absl::StrCat(duration_ns / 1000)},
      {"request_bytes", absl::StrCat(request_bytes_)},
      {"principal", std::string(PrincipalOf(context))},
      {"peer", context.peer()},
      {"trace_id", trace_id_}};
  if (!status.ok()) fields.emplace_back("error", status.message());
  if (left_out > 0) {
    fields.emplace_back("failures_left_out", absl::StrCat(left_out));
  }
  log.Log(severity, event, fields);
}

}  // namespace tensord
