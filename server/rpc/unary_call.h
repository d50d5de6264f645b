#ifndef TENSORD_SERVER_RPC_UNARY_CALL_H_
#define TENSORD_SERVER_RPC_UNARY_CALL_H_

#include <google/protobuf/arena.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "server/rpc/message_io.h"
#include "server/rpc/principal.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/request_record.h"

namespace tensord {

// One call of a method whose messages protobuf reads and writes.
//
// Threading: End() may be called from any thread, once, in the handler or
//   later; nothing touches the call afterwards.
// Ownership: its own; it goes when gRPC is done with it.
template <typename Request, typename Response>
class UnaryCall final : public grpc::ServerUnaryReactor {
 public:
  using Handler = std::function<void(UnaryCall&)>;

  // `handler` fills response() and calls End().
  static RawService::UnaryHandler Bind(const MethodRecord& method,
                                       Handler handler) {
    return [&method, handler = std::move(handler)](
               grpc::CallbackServerContext* context,
               const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
      auto* call = new UnaryCall(method, context, response);
      call->Start(*request, handler);
      return call;
    };
  }

  // For a method that answers at once.
  static RawService::UnaryHandler BindDirect(
      const MethodRecord& method,
      std::function<absl::Status(UnaryCall&, const Request&, Response&)>
          handler) {
    return Bind(method, [handler = std::move(handler)](UnaryCall& call) {
      call.End(handler(call, call.request(), call.response()));
    });
  }

  const Request& request() const { return *request_; }
  Request& mutable_request() { return *request_; }
  Response& response() { return *response_; }
  absl::string_view principal() const { return PrincipalOf(*context_); }

  void End(absl::Status status) {
    const ServiceEnvironment& environment = record_.method().environment;
    if (status.ok()) {
      status = SerializeMessage(*response_,
                                environment.config.max_message_bytes, *bytes_);
    }
    Finish(record_.End(status, *context_));
  }

 private:
  UnaryCall(const MethodRecord& method, grpc::CallbackServerContext* context,
            grpc::ByteBuffer* bytes)
      : token_(method.environment.active_calls),
        record_(method),
        context_(context),
        bytes_(bytes),
        request_(google::protobuf::Arena::CreateMessage<Request>(&arena_)),
        response_(google::protobuf::Arena::CreateMessage<Response>(&arena_)) {}

  void Start(const grpc::ByteBuffer& request, const Handler& handler) {
    record_.AddRequestBytes(request.Length());
    absl::Status status = ParseMessage(
        request, record_.method().environment.config.max_message_bytes,
        *request_);
    if (status.ok()) {
      handler(*this);
    } else {
      End(std::move(status));
    }
  }

  void OnDone() override { delete this; }

  const ActiveCalls::Token token_;
  RequestRecord record_;
  grpc::CallbackServerContext* const context_;
  grpc::ByteBuffer* const bytes_;
  google::protobuf::Arena arena_;
  Request* const request_;
  Response* const response_;
};

// Sets a method that answers at once: `answer` fills the call's response.
template <typename Call>
void SetDirect(RawService& service, const ServiceEnvironment& environment,
               absl::string_view method,
               absl::Status (*answer)(const ServiceEnvironment&, Call&)) {
  service.SetUnary(method, Call::Bind(service.record(method),
                                      [&environment, answer](Call& call) {
                                        call.End(answer(environment, call));
                                      }));
}

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_UNARY_CALL_H_
