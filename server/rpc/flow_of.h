#ifndef TENSORD_SERVER_RPC_FLOW_OF_H_
#define TENSORD_SERVER_RPC_FLOW_OF_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"
#include "server/rpc/principal.h"

namespace tensord {

// In whose turn a run is: that of the session that its request names, or else
// of (principal, connection). Two of them have one number with a chance of 2 to
// the power of -64, and would then take turns as one.
//
// Threading and ownership: pure.
inline uint64_t FlowOf(absl::string_view session_id,
                       const grpc::CallbackServerContext& context) {
  if (!session_id.empty()) return absl::HashOf(session_id);
  return absl::HashOf(PrincipalOf(context), context.peer());
}

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_FLOW_OF_H_
