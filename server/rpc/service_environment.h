#ifndef TENSORD_SERVER_RPC_SERVICE_ENVIRONMENT_H_
#define TENSORD_SERVER_RPC_SERVICE_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "backends/api/host_memory_budget.h"
#include "engine/engine.h"
#include "engine/profile/op_profile.h"
#include "engine/profile/phase_profile.h"
#include "server/config/server_config.h"
#include "server/log/server_logger.h"
#include "server/metrics/execution_metrics.h"
#include "server/metrics/request_metrics.h"
#include "server/rpc/active_calls.h"
#include "server/rpc/engine_observer.h"
#include "server/sessions/holdings.h"

namespace tensord {

// What every service needs of the process.
//
// Threading: immutable; what it refers to is thread-safe.
// Ownership: borrows everything, which outlives the server.
struct ServiceEnvironment {
  const ServerConfig& config;
  Engine& engine;
  Holdings& holdings;
  op_profile::OpProfile& profile;
  op_profile::PhaseProfile& phases;
  metrics::RequestMetrics& requests;
  metrics::ExecutionMetrics& executions;
  EngineObserver& observer;
  ActiveCalls& active_calls;
  ServerLogger& log;

  std::string build;  // "0.1.0 (9f2c...)"
  // Backends without a device here, and why.
  std::vector<std::pair<BackendId, std::string>> unavailable_backends;
  // What graphs that are being read are taken from; null: unlimited.
  HostMemoryBudget* host_memory = nullptr;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_SERVICE_ENVIRONMENT_H_
