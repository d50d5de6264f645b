#ifndef TENSORD_SERVER_RPC_GRPC_LOG_H_
#define TENSORD_SERVER_RPC_GRPC_LOG_H_

#include "server/log/server_logger.h"

namespace tensord {

// From now on gRPC's own lines, which clients can cause (a compressed message,
// a broken handshake), go to `log`: escaped, at most a few a second, as
// warnings at most. For the whole process; `log` lives as long as it.
void SendGrpcLogTo(ServerLogger& log);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_GRPC_LOG_H_
