#ifndef TENSORD_SERVER_RPC_WAIT_CALL_H_
#define TENSORD_SERVER_RPC_WAIT_CALL_H_

#include "server/rpc/raw_service.h"

namespace tensord {

// ExecutionService.WaitExecution. A call that waits is an entry of the run's
// record and an alarm: no thread.
// Ownership: `method` outlives the handler.
RawService::UnaryHandler MakeWaitHandler(const MethodRecord& method);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_WAIT_CALL_H_
