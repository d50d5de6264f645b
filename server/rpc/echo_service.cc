#include "server/rpc/echo_service.h"

namespace tensord {

std::unique_ptr<RawService> MakeEchoService(
    const ServiceEnvironment& environment) {
  auto service =
      std::make_unique<RawService>(environment, "tensord.bench.v1.Echo");
  service->SetUnary(
      "Echo", [](grpc::CallbackServerContext* context,
                 const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
        *response = *request;  // shares the slices
        grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
        reactor->Finish(grpc::Status::OK);
        return reactor;
      });
  return service;
}

}  // namespace tensord
