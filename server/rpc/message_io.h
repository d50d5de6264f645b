#ifndef TENSORD_SERVER_RPC_MESSAGE_IO_H_
#define TENSORD_SERVER_RPC_MESSAGE_IO_H_

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tensord {

// Between gRPC's byte buffers and messages. Every method takes its bytes raw,
// so that a message that is too large or is none gets the API's own error:
// gRPC's would name neither side nor flag, and call a malformed one INTERNAL.
//
// Threading: pure.

// Whether a received message is there and small enough. kResourceExhausted for
// more than max_message_bytes; kCancelled for a call that broke off before its
// message was complete, which reaches a handler as no buffer at all.
absl::Status CheckReceived(const grpc::ByteBuffer& bytes,
                           int64_t max_message_bytes);

// CheckReceived's errors; kInvalidArgument, MALFORMED_MESSAGE.
absl::Status ParseMessage(const grpc::ByteBuffer& bytes,
                          int64_t max_message_bytes,
                          google::protobuf::MessageLite& message);

// kResourceExhausted for more than max_message_bytes.
absl::Status SerializeMessage(const google::protobuf::MessageLite& message,
                              int64_t max_message_bytes,
                              grpc::ByteBuffer& bytes);

// The bytes of a buffer where they lie.
// Ownership: holds on to the slices, and so may outlive the buffer.
class BufferSegments {
 public:
  void Assign(const grpc::ByteBuffer& bytes);
  void Clear();

  absl::Span<const absl::string_view> segments() const { return segments_; }

 private:
  grpc::Slice single_;
  std::vector<grpc::Slice> slices_;
  absl::InlinedVector<absl::string_view, 4> segments_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_MESSAGE_IO_H_
