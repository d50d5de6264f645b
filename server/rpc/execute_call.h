#ifndef TENSORD_SERVER_RPC_EXECUTE_CALL_H_
#define TENSORD_SERVER_RPC_EXECUTE_CALL_H_

#include <memory>

#include "server/rpc/graph_facts.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/recorded_runs.h"

namespace tensord {

// ExecutionService.Execute: the call that everything else is for. It decodes by
// hand (server/wire), gives the run to the engine, and answers with slices over
// the outputs' own buffers. Small graphs run inside the handler; for others it
// returns, and the lane's thread answers.
//
// Ownership: the handler owns the objects of calls that it uses again;
// `method`,
//   `facts` and `runs` outlive it.
RawService::UnaryHandler MakeExecuteHandler(const MethodRecord& method,
                                            GraphFactsTable& facts,
                                            RecordedRuns& runs);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_CALL_H_
