#ifndef TENSORD_SERVER_RPC_EXECUTION_MESSAGES_H_
#define TENSORD_SERVER_RPC_EXECUTION_MESSAGES_H_

#include "server/executions/execution_record.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {

// Runs as the API's messages. Threading and ownership: pure.

v1::ExecutionState ToMessage(ExecutionState state);

// How it is now.
void FillExecution(const ExecutionRecord& record, v1::Execution& message);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTION_MESSAGES_H_
