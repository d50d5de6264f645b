#include "server/rpc/make_holdings.h"

namespace tensord {

std::unique_ptr<Holdings> MakeHoldings(const ServerConfig& config,
                                       Engine& engine) {
  Holdings::Options options;
  SessionTable::Options& sessions = options.sessions;
  sessions.instance = config.advertised_name;
  sessions.max_sessions = config.max_sessions;
  sessions.time_to_live = config.session_time;
  sessions.max_time_to_live = config.max_session_time;
  sessions.limits.max_executions = config.max_session_executions;
  sessions.limits.max_requests = config.max_session_requests;
  sessions.limits.max_bytes = static_cast<uint64_t>(config.max_session_bytes);
  sessions.limits.max_all_bytes =
      static_cast<uint64_t>(config.max_resident_bytes);
  ExecutionTable::Options& executions = options.executions;
  executions.instance = config.advertised_name;
  executions.result_time = config.result_time;
  executions.max_result_time = config.max_result_time;
  executions.max_result_bytes = static_cast<uint64_t>(config.max_result_bytes);
  executions.max_ended_records = config.max_ended_executions;
  options.upload_keep_time = config.upload_keep_time;
  return std::make_unique<Holdings>(
      options,
      Holdings::Runs{
          .cancel =
              [&engine](ExecutionRecord& record) { CancelRun(engine, record); },
          .await_all =
              [&engine] { engine.AwaitIdle(absl::InfiniteFuture()); }});
}

metrics::HoldingsStats HoldingsStatsOf(const Holdings& holdings) {
  return {.sessions = static_cast<uint64_t>(holdings.sessions.count()),
          .resident_tensors = static_cast<uint64_t>(holdings.tensors.count()),
          .resident_bytes = holdings.sessions.resident_bytes().count()};
}

void CancelRun(Engine& engine, ExecutionRecord& record) {
  // In this order: whoever starts it meanwhile sees the first, or is seen by
  // the second.
  record.execution.is_cancelled.store(true);
  if (record.is_started.load()) engine.Cancel(record.execution);
}

}  // namespace tensord
