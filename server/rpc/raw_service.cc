#include "server/rpc/raw_service.h"

#include <grpcpp/impl/codegen/server_callback_handlers.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "server/errors/error_details.h"

namespace tensord {
namespace {

using grpc::ByteBuffer;
using grpc::CallbackServerContext;
using grpc::internal::RpcMethod;
using UnaryMethod =
    grpc::internal::CallbackUnaryHandler<ByteBuffer, ByteBuffer>;
using ReadMethod =
    grpc::internal::CallbackClientStreamingHandler<ByteBuffer, ByteBuffer>;
using WriteMethod =
    grpc::internal::CallbackServerStreamingHandler<ByteBuffer, ByteBuffer>;
using BidiMethod = grpc::internal::CallbackBidiHandler<ByteBuffer, ByteBuffer>;

RpcMethod::RpcType TypeOf(const google::protobuf::MethodDescriptor& method) {
  if (method.client_streaming()) {
    return method.server_streaming() ? RpcMethod::BIDI_STREAMING
                                     : RpcMethod::CLIENT_STREAMING;
  }
  return method.server_streaming() ? RpcMethod::SERVER_STREAMING
                                   : RpcMethod::NORMAL_RPC;
}

// Ends a call with an error, whatever comes.
template <typename Base>
class Refusal final : public Base {
 public:
  Refusal(const MethodRecord& method, const CallbackServerContext& context,
          const absl::Status& status) {
    RequestRecord record(method);
    this->Finish(record.End(status, context));
  }
  void OnDone() override { delete this; }
};

}  // namespace

RawService::RawService(const ServiceEnvironment& environment,
                       const google::protobuf::ServiceDescriptor& descriptor)
    : environment_(environment), full_name_(descriptor.full_name()) {
  for (int i = 0; i < descriptor.method_count(); ++i) {
    const google::protobuf::MethodDescriptor& method = *descriptor.method(i);
    SetFeatureOff(method, Add(method.name(), TypeOf(method)));
  }
}

RawService::RawService(const ServiceEnvironment& environment,
                       std::string full_name)
    : environment_(environment), full_name_(std::move(full_name)) {}

RawService::Entry& RawService::Add(absl::string_view method,
                                   RpcMethod::RpcType type) {
  Entry& entry = entries_.emplace_back(
      environment_, absl::StrCat("/", full_name_, "/", method));
  entry.index = static_cast<int>(entries_.size() - 1);
  by_method_[std::string(method)] = &entry;
  AddMethod(new grpc::internal::RpcServiceMethod(entry.record.full_name.c_str(),
                                                 type, nullptr));
  return entry;
}

void RawService::SetFeatureOff(const google::protobuf::MethodDescriptor& method,
                               Entry& entry) {
  const MethodRecord& record = entry.record;
  const absl::Status status = FeatureOff(method.name());
  switch (TypeOf(method)) {
    case RpcMethod::NORMAL_RPC:
      SetUnary(method.name(), [&record, status](CallbackServerContext* context,
                                                const ByteBuffer*,
                                                ByteBuffer*) {
        return new Refusal<grpc::ServerUnaryReactor>(record, *context, status);
      });
      return;
    case RpcMethod::CLIENT_STREAMING:
      SetClientStream(
          method.name(),
          [&record, status](CallbackServerContext* context, ByteBuffer*) {
            return new Refusal<grpc::ServerReadReactor<ByteBuffer>>(
                record, *context, status);
          });
      return;
    case RpcMethod::SERVER_STREAMING:
      SetServerStream(
          method.name(),
          [&record, status](CallbackServerContext* context, const ByteBuffer*) {
            return new Refusal<grpc::ServerWriteReactor<ByteBuffer>>(
                record, *context, status);
          });
      return;
    case RpcMethod::BIDI_STREAMING:
      SetBidiStream(
          method.name(), [&record, status](CallbackServerContext* context) {
            return new Refusal<grpc::ServerBidiReactor<ByteBuffer, ByteBuffer>>(
                record, *context, status);
          });
      return;
  }
}

void RawService::SetUnary(absl::string_view method, UnaryHandler handler) {
  const auto found = by_method_.find(method);
  Entry& entry = found != by_method_.end() ? *found->second
                                           : Add(method, RpcMethod::NORMAL_RPC);
  MarkMethodRawCallback(entry.index, new UnaryMethod(std::move(handler)));
}

void RawService::SetClientStream(absl::string_view method,
                                 ReadHandler handler) {
  MarkMethodRawCallback(by_method_.at(method)->index,
                        new ReadMethod(std::move(handler)));
}

void RawService::SetServerStream(absl::string_view method,
                                 WriteHandler handler) {
  MarkMethodRawCallback(by_method_.at(method)->index,
                        new WriteMethod(std::move(handler)));
}

void RawService::SetBidiStream(absl::string_view method, BidiHandler handler) {
  MarkMethodRawCallback(by_method_.at(method)->index,
                        new BidiMethod(std::move(handler)));
}

const MethodRecord& RawService::record(absl::string_view method) const {
  return by_method_.at(method)->record;
}

}  // namespace tensord
