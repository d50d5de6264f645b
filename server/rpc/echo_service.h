#ifndef TENSORD_SERVER_RPC_ECHO_SERVICE_H_
#define TENSORD_SERVER_RPC_ECHO_SERVICE_H_

#include <memory>

#include "server/rpc/raw_service.h"

namespace tensord {

// tensord.bench.v1.Echo, what benchmarks compare calls with, on gRPC's own
// default reactor. Not part of the API; served only with
// --enable-echo-for-benchmarks.
//   Echo: the bytes back as they came: the least that a call can cost on this
//     server.
//   PooledEcho: as many bytes back, out of another pooled buffer than the one
//     that they were copied into: the least for tensors.
//   Discard: nothing back: receiving alone.
std::unique_ptr<RawService> MakeEchoService(
    const ServiceEnvironment& environment);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_ECHO_SERVICE_H_
