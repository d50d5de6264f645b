#include "server/rpc/execute_outcome.h"

#include <optional>

#include "engine/cache/loaded_graph.h"
#include "engine/graph/escape.h"
#include "server/errors/error_details.h"
#include "tensord/v1/errors.pb.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {
namespace {

using metrics::ExecutionOutcome;
using metrics::RejectionReason;
using op_profile::Phase;

// Whether the value can be the input: what inference says of it alone.
bool Fits(const HostValue& value, const TensorType& type) {
  if (type.dtype != DType::kUndefined && value.dtype != type.dtype) {
    return false;
  }
  if (!type.shape.has_value()) return true;
  if (static_cast<int>(type.shape->size()) != value.shape.rank()) return false;
  for (int i = 0; i < value.shape.rank(); ++i) {
    const Dim dim = (*type.shape)[i];
    if (dim.is_known() && dim.extent() != value.shape[i]) return false;
  }
  return true;
}

v1::InvalidTensor Describe(const HostValue& value, const std::string& name,
                           const TensorType& type, const SymbolTable& symbols,
                           absl::string_view text) {
  v1::InvalidTensor detail;
  detail.set_name(Escape(name));
  detail.set_description(std::string(text.substr(0, 512)));
  detail.set_dtype(static_cast<v1::DType>(value.dtype));
  for (int64_t extent : value.shape.extents()) detail.add_dims(extent);
  v1::ValueInfo& expected = *detail.mutable_expected();
  expected.set_name(Escape(name));
  expected.set_dtype(static_cast<v1::DType>(type.dtype));
  expected.set_rank_unknown(!type.shape.has_value());
  if (!type.shape.has_value()) return detail;
  for (const Dim dim : *type.shape) {
    v1::Dim& message = *expected.add_dims();
    if (dim.is_known()) {
      message.set_size(dim.extent());
    } else {
      message.set_symbol(symbols.ToString(dim));
    }
  }
  return detail;
}

// Why there was no device: by the first, of those that were asked for, that
// takes nothing.
absl::Status WithReason(const absl::Status& status, const Execution& execution,
                        const Engine& engine) {
  const auto with = [&](v1::ErrorReason reason, const std::string& device) {
    return device.empty()
               ? ErrorWithReason(status.code(), reason, status.message())
               : ErrorWithReason(status.code(), reason, status.message(),
                                 {{"device", device}});
  };
  for (const DeviceStatus& device : engine.Devices()) {
    if (!execution.wish.Allows(device.info.id)) continue;
    const std::string name = device.info.id.ToString();
    if (!device.health.ok()) return with(v1::DEVICE_LOST, name);
    if (device.is_draining) return with(v1::DRAINING, name);
  }
  return with(v1::DRAINING, "");
}

}  // namespace

absl::Status ExecutionStatus(const Execution& execution, const Engine& engine) {
  const absl::Status& status = execution.status;
  if (status.code() == absl::StatusCode::kUnavailable) {
    return WithReason(status, execution, engine);
  }
  if (status.code() != absl::StatusCode::kInvalidArgument ||
      execution.graph == nullptr) {
    return status;
  }
  const Graph& graph = *execution.graph->graph();
  const Inference& inference = execution.graph->inference();
  for (size_t i = 0; i < execution.inputs.size(); ++i) {
    const ValueId id = graph.inputs[i];
    if (Fits(execution.inputs[i], inference.types[id])) continue;
    return WithDetail(
        status,
        Describe(execution.inputs[i], graph.value(id).name, inference.types[id],
                 inference.symbols, status.message()));
  }
  return status;
}

void RecordOutcome(const Execution& execution, const absl::Status& status,
                   metrics::ExecutionMetrics& executions) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      executions.RecordOutcome(ExecutionOutcome::kSucceeded);
      return;
    case absl::StatusCode::kCancelled:
      executions.RecordOutcome(ExecutionOutcome::kCancelled);
      return;
    case absl::StatusCode::kDeadlineExceeded:
      executions.RecordOutcome(ExecutionOutcome::kExpired);
      if (execution.started_ns.load(std::memory_order_relaxed) == 0) {
        executions.RecordRejection(RejectionReason::kQueueTimeout);
      }
      return;
    default:
      executions.RecordOutcome(ExecutionOutcome::kFailed);
  }
  // One whose device was lost under it was not refused.
  if (execution.phase_ns[static_cast<size_t>(Phase::kRun)] != 0) return;
  const std::string reason = ReasonOf(status);
  if (reason == v1::ErrorReason_Name(v1::DRAINING)) {
    executions.RecordRejection(RejectionReason::kDraining);
  } else if (reason == v1::ErrorReason_Name(v1::DEVICE_LOST)) {
    executions.RecordRejection(RejectionReason::kNoDevice);
  }
}

void RecordPhases(const Execution& execution,
                  const ServiceEnvironment& environment) {
  std::optional<BackendId> backend;
  if (execution.status.ok()) {
    backend = execution.ran_on.backend;
    environment.observer.RecordQueueWait(
        execution.ran_on,
        static_cast<uint64_t>(execution.phase_ns[static_cast<size_t>(
            op_profile::Phase::kQueue)]));
  }
  // The engine records the phases between these two.
  for (const Phase phase : {Phase::kDecode, Phase::kEncode}) {
    const int64_t ns = execution.phase_ns[static_cast<size_t>(phase)];
    if (ns > 0) {
      environment.phases.Add(phase, backend, static_cast<uint64_t>(ns));
    }
  }
}

std::string TraceMessage(const op_profile::TraceBuffer& trace, DeviceId ran_on,
                         const op_profile::OpProfile& profile) {
  v1::ExecutionTrace message;
  for (const op_profile::TraceRow& row : trace.rows()) {
    const op_profile::SlotIdentity identity = profile.Describe(row.slot);
    v1::TraceRow& out = *message.add_rows();
    out.set_node_index(row.node_index);
    out.set_op(std::string(identity.op.name()));
    out.set_node(row.node);
    out.set_kernel(identity.kernel);
    // A node without a kernel there ran on the host.
    out.set_device((identity.backend == ran_on.backend
                        ? ran_on
                        : DeviceId{identity.backend, 0})
                       .ToString());
    out.set_start_ns(static_cast<int64_t>(row.start_ns));
    out.set_host_ns(static_cast<int64_t>(row.host_ns));
    out.set_size_bytes(static_cast<int64_t>(row.bytes));
    out.set_segment_index(row.segment_index);
    if (row.device_ns < 0) continue;
    out.set_device_start_ns(row.device_start_ns);
    out.set_device_ns(row.device_ns);
  }
  message.set_is_truncated(trace.dropped_count() > 0);
  message.set_launch_count(
      static_cast<int64_t>(trace.rows().size() + trace.dropped_count()));
  return message.SerializeAsString();
}

}  // namespace tensord
