#ifndef TENSORD_SERVER_RPC_UPLOAD_CONTENT_H_
#define TENSORD_SERVER_RPC_UPLOAD_CONTENT_H_

#include <grpcpp/support/byte_buffer.h>

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "server/config/server_config.h"
#include "server/rpc/graph_id.h"
#include "server/wire/wire_reader.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// What an UploadGraph stream has sent so far, and whether it is what its header
// declares. Chunks are copied once, from where gRPC received them.
//
// Threading: one thread at a time. Ownership: owns the bytes.
// Errors: kInvalidArgument (a field, MALFORMED_MESSAGE, HASH_MISMATCH),
//   kResourceExhausted (a message or an upload that is too large, no memory).
class UploadContent {
 public:
  explicit UploadContent(const ServerConfig& config) : config_(config) {}

  // The next message: first a header by itself, then chunks.
  absl::Status Take(const grpc::ByteBuffer& message);

  // Room for all that is declared. There is a header.
  absl::Status Reserve();

  // Whether all is there, and right.
  absl::Status CheckComplete();

  // Absent before the first message.
  const std::optional<v1::UploadGraphHeader>& header() const { return header_; }
  // The hash that the header declares.
  const Sha256Digest& declared() const { return declared_; }

  // Gives the bytes away, or up.
  std::string TakeBytes() { return std::move(bytes_); }

 private:
  absl::Status TakeHeader(const std::string& bytes);
  absl::Status TakeChunk(WireReader& reader, size_t length);

  const ServerConfig& config_;
  std::optional<v1::UploadGraphHeader> header_;
  bool is_header_message_ = false;  // the message that is being taken
  Sha256Digest declared_;
  Sha256 sha_;
  std::string bytes_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_UPLOAD_CONTENT_H_
