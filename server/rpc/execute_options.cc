#include "server/rpc/execute_options.h"

#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/device_names.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {
namespace {

absl::Status CheckFeatures(const v1::ExecuteOptions& options,
                           const LoadedGraph& graph) {
  if (!options.session_id().empty())
    return FeatureOff("ExecuteOptions.session_id");
  if (!options.request_id().empty())
    return FeatureOff("ExecuteOptions.request_id");
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
  if (options.has_keep_result() && (options.keep_result().seconds() != 0 ||
                                    options.keep_result().nanos() != 0)) {
    return FeatureOff("ExecuteOptions.keep_result");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ApplyExecuteOptions(const std::string& bytes, const Engine& engine,
                                 int64_t max_trace_rows, Execution& execution) {
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
  if (execution.trace_capacity > 0) {
    execution.trace = std::make_unique<op_profile::TraceBuffer>(
        static_cast<size_t>(execution.trace_capacity));
  }
  return absl::OkStatus();
}

}  // namespace tensord
