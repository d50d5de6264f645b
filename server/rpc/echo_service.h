#ifndef TENSORD_SERVER_RPC_ECHO_SERVICE_H_
#define TENSORD_SERVER_RPC_ECHO_SERVICE_H_

#include <memory>

#include "server/rpc/raw_service.h"

namespace tensord {

// tensord.bench.v1.Echo/Echo: the bytes back as they came, on gRPC's own
// default reactor. It is the least that a call can cost on this server, so that
// a benchmark can say what tensord adds. Not part of the API; served only with
// --enable-echo-for-benchmarks.
std::unique_ptr<RawService> MakeEchoService(
    const ServiceEnvironment& environment);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_ECHO_SERVICE_H_
