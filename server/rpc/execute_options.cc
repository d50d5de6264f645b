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
  if (options.priority() != v1::PRIORITY_UNSPECIFIED &&
      options.priority() != v1::PRIORITY_NORMAL) {
    return v1::Priority_IsValid(options.priority())
               ? FeatureOff("A priority other than PRIORITY_NORMAL")
               : BadField("options.priority",
                          absl::StrCat("there is none of number ",
                                       static_cast<int>(options.priority())));
  }
  if (options.deterministic() && !graph.options().deterministic) {
    return FeatureOff(
        "A deterministic run of a graph that was not submitted as "
        "deterministic");
  }
  if (options.has_queue_timeout())
    return FeatureOff("ExecuteOptions.queue_timeout");
  if (options.has_execution_timeout()) {
    return FeatureOff("ExecuteOptions.execution_timeout");
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
