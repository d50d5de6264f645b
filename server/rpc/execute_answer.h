#ifndef TENSORD_SERVER_RPC_EXECUTE_ANSWER_H_
#define TENSORD_SERVER_RPC_EXECUTE_ANSWER_H_

#include <grpcpp/support/slice.h>

#include <vector>

#include "absl/types/span.h"
#include "server/executions/execution_record.h"
#include "server/rpc/active_calls.h"
#include "server/wire/execute_encoder.h"

namespace tensord {

// From outputs to what the transport writes. Threading: one thread.

// Shares of the outputs' bytes, or their handles.
void AddKeptOutputs(absl::Span<const KeptOutput> outputs,
                    ExecuteEncoder& encoder);

// Appends the encoder's message: one slice of headers, cut up, and one over
// each output's own buffer. The encoder is empty afterwards.
void TakeSlices(ExecuteEncoder& encoder, ActiveCalls& calls,
                std::vector<grpc::Slice>& slices);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_ANSWER_H_
