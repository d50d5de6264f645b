#ifndef TENSORD_SERVER_RPC_RAW_SERVICE_H_
#define TENSORD_SERVER_RPC_RAW_SERVICE_H_

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/codegen/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/server_callback.h>

#include <deque>
#include <functional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "server/rpc/request_record.h"
#include "server/rpc/service_environment.h"

namespace tensord {

// A service whose methods all take and give bytes. It does what protoc's
// generated base classes do, from the descriptor instead of a template for
// each method: one class for every service, and a method without a handler
// says which feature is not there rather than nothing.
//
// Threading: handlers are set before the server starts; they are called on
//   gRPC's threads and must not block.
// Ownership: outlives the server that it is registered with.
class RawService : public grpc::Service {
 public:
  using UnaryHandler = std::function<grpc::ServerUnaryReactor*(
      grpc::CallbackServerContext*, const grpc::ByteBuffer* request,
      grpc::ByteBuffer* response)>;
  using ReadHandler = std::function<grpc::ServerReadReactor<grpc::ByteBuffer>*(
      grpc::CallbackServerContext*, grpc::ByteBuffer* response)>;
  using WriteHandler =
      std::function<grpc::ServerWriteReactor<grpc::ByteBuffer>*(
          grpc::CallbackServerContext*, const grpc::ByteBuffer* request)>;

  using BidiHandler = std::function<grpc::ServerBidiReactor<
      grpc::ByteBuffer, grpc::ByteBuffer>*(grpc::CallbackServerContext*)>;

  // With every method answering that it is not in this version.
  RawService(const ServiceEnvironment& environment,
             const google::protobuf::ServiceDescriptor& descriptor);
  // One that is not of the API: it has the unary methods that are set.
  RawService(const ServiceEnvironment& environment, std::string full_name);

  // `method` as in the descriptor, with the right kind of streaming.
  void SetUnary(absl::string_view method, UnaryHandler handler);
  void SetClientStream(absl::string_view method, ReadHandler handler);
  void SetServerStream(absl::string_view method, WriteHandler handler);
  void SetBidiStream(absl::string_view method, BidiHandler handler);

  const std::string& full_name() const { return full_name_; }
  // For the records of a method's calls; lives as long as the service.
  const MethodRecord& record(absl::string_view method) const;

 private:
  struct Entry {
    Entry(const ServiceEnvironment& environment, std::string full_name)
        : record(environment, std::move(full_name)) {}
    MethodRecord record;
    int index = 0;
  };

  Entry& Add(absl::string_view method, grpc::internal::RpcMethod::RpcType type);
  void SetFeatureOff(const google::protobuf::MethodDescriptor& method,
                     Entry& entry);

  const ServiceEnvironment& environment_;
  const std::string full_name_;
  std::deque<Entry> entries_;  // stable addresses: gRPC keeps the names'
  absl::flat_hash_map<std::string, Entry*> by_method_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_RAW_SERVICE_H_
