#include "server/rpc/message_io.h"

#include <google/protobuf/io/coded_stream.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"

namespace tensord {
namespace {

absl::string_view BytesOf(const grpc::Slice& slice) {
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

}  // namespace

absl::Status CheckReceived(const grpc::ByteBuffer& bytes,
                           int64_t max_message_bytes) {
  if (!bytes.Valid()) {
    return absl::CancelledError("the call broke off before its message came");
  }
  const size_t size = bytes.Length();
  if (size > static_cast<size_t>(max_message_bytes)) {
    return MessageTooLarge("received message", size, max_message_bytes);
  }
  return absl::OkStatus();
}

absl::Status ParseMessage(const grpc::ByteBuffer& bytes,
                          int64_t max_message_bytes,
                          google::protobuf::MessageLite& message) {
  TENSORD_RETURN_IF_ERROR(CheckReceived(bytes, max_message_bytes));
  // The reader takes a pointer that it does not write through.
  grpc::ProtoBufferReader reader(const_cast<grpc::ByteBuffer*>(&bytes));
  google::protobuf::io::CodedInputStream input(&reader);
  if (!reader.status().ok() || !message.ParseFromCodedStream(&input) ||
      !input.ConsumedEntireMessage()) {
    return MalformedMessage(message.GetTypeName(),
                            static_cast<size_t>(input.CurrentPosition()));
  }
  return absl::OkStatus();
}

absl::Status SerializeMessage(const google::protobuf::MessageLite& message,
                              int64_t max_message_bytes,
                              grpc::ByteBuffer& bytes) {
  const size_t size = message.ByteSizeLong();
  if (size > static_cast<size_t>(max_message_bytes)) {
    return MessageTooLarge("sent message", size, max_message_bytes);
  }
  grpc::Slice slice(size);
  message.SerializeWithCachedSizesToArray(const_cast<uint8_t*>(slice.begin()));
  bytes = grpc::ByteBuffer(&slice, 1);
  return absl::OkStatus();
}

void BufferSegments::Assign(const grpc::ByteBuffer& bytes) {
  segments_.clear();
  slices_.clear();
  if (bytes.TrySingleSlice(&single_).ok()) {
    segments_.push_back(BytesOf(single_));
    return;
  }
  if (!bytes.Dump(&slices_).ok()) return;
  for (const grpc::Slice& slice : slices_) segments_.push_back(BytesOf(slice));
}

void BufferSegments::Clear() {
  segments_.clear();
  slices_.clear();
  single_ = grpc::Slice();
}

}  // namespace tensord
