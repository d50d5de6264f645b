#ifndef TENSORD_SERVER_RPC_MAKE_HOLDINGS_H_
#define TENSORD_SERVER_RPC_MAKE_HOLDINGS_H_

#include <memory>

#include "engine/engine.h"
#include "server/config/server_config.h"
#include "server/executions/execution_record.h"
#include "server/metrics/holdings_stats.h"
#include "server/sessions/holdings.h"

namespace tensord {

// The tables of sessions and what they own, as the configuration says.
// Ownership: borrows the engine, which outlives them.
std::unique_ptr<Holdings> MakeHoldings(const ServerConfig& config,
                                       Engine& engine);

// What they hold now, for the metrics page.
metrics::HoldingsStats HoldingsStatsOf(const Holdings& holdings);

// Asks for the end of a run, wherever it is on its way. Thread-safe.
void CancelRun(Engine& engine, ExecutionRecord& record);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_MAKE_HOLDINGS_H_
