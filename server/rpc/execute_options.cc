#include "server/rpc/execute_options.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/device_names.h"
#include "server/rpc/time_messages.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {
namespace {

// As execution_service.proto says.
constexpr size_t kMaxRequestIdBytes = 128;

absl::Status CheckFeatures(const v1::ExecuteOptions& options,
                           const LoadedGraph& graph) {
  if (options.deterministic() && !graph.options().deterministic) {
    return FeatureOff(
        "A deterministic run of a graph that was not submitted as "
        "deterministic");
  }
  return absl::OkStatus();
}

absl::StatusOr<Priority> PriorityOf(const v1::ExecuteOptions& options) {
  switch (options.priority()) {
    case v1::PRIORITY_UNSPECIFIED:
    case v1::PRIORITY_NORMAL:
      return Priority::kNormal;
    case v1::PRIORITY_LOW:
      return Priority::kLow;
    case v1::PRIORITY_HIGH:
      return Priority::kHigh;
    default:
      return BadField("options.priority",
                      absl::StrCat("there is none of number ",
                                   static_cast<int>(options.priority())));
  }
}

// A run that may not wait, or not run, at all is nothing to ask for.
absl::StatusOr<absl::Duration> ReadTimeout(
    absl::string_view field, const google::protobuf::Duration& message) {
  TENSORD_ASSIGN_OR_RETURN(const absl::Duration timeout,
                           ReadDuration(field, message));
  if (timeout > absl::ZeroDuration()) return timeout;
  return BadField(field, "0 s; give more, or leave it out");
}

absl::Status FillTurn(const v1::ExecuteOptions& options, Execution& execution) {
  TENSORD_ASSIGN_OR_RETURN(execution.priority, PriorityOf(options));
  if (options.has_queue_timeout()) {
    TENSORD_ASSIGN_OR_RETURN(
        execution.queue_timeout,
        ReadTimeout("options.queue_timeout", options.queue_timeout()));
  }
  if (options.has_execution_timeout()) {
    TENSORD_ASSIGN_OR_RETURN(
        execution.execution_timeout,
        ReadTimeout("options.execution_timeout", options.execution_timeout()));
  }
  return absl::OkStatus();
}

absl::Status FillPlan(v1::ExecuteOptions& options, RunPlan& plan) {
  if (options.request_id().size() > kMaxRequestIdBytes) {
    return BadField("options.request_id",
                    absl::StrCat(options.request_id().size(),
                                 " bytes; give at most ", kMaxRequestIdBytes));
  }
  plan.session_id = options.session_id();
  plan.request_id = options.request_id();
  if (options.has_keep_result()) {
    TENSORD_ASSIGN_OR_RETURN(
        plan.keep_result,
        ReadDuration("options.keep_result", options.keep_result()));
  }
  if (plan.request_id.empty()) return absl::OkStatus();
  options.clear_session_id();
  options.clear_request_id();
  options.clear_queue_timeout();
  options.clear_execution_timeout();
  options.clear_trace();
  plan.comparable_options = options.SerializeAsString();
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyExecuteOptions(const std::string& bytes, const Engine& engine,
                                 int64_t max_trace_rows, Execution& execution,
                                 RunPlan& plan) {
  v1::ExecuteOptions options;
  if (!options.ParseFromString(bytes)) {
    return MalformedMessage("tensord.v1.ExecuteOptions", 0);
  }
  TENSORD_RETURN_IF_ERROR(CheckFeatures(options, *execution.graph));
  TENSORD_RETURN_IF_ERROR(FillTurn(options, execution));
  TENSORD_ASSIGN_OR_RETURN(execution.wish,
                           FindDevice(engine, options.device()));
  if (options.trace().max_rows() < 0) {
    return BadField("options.trace.max_rows",
                    absl::StrCat(options.trace().max_rows(), " is negative"));
  }
  execution.trace_capacity = static_cast<int>(
      std::min<int64_t>(options.trace().max_rows(), max_trace_rows));
  execution.trace_device_times = options.trace().device_times();
  return FillPlan(options, plan);
}

}  // namespace tensord
