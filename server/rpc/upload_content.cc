#include "server/rpc/upload_content.h"

#include <algorithm>
#include <new>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/limit_exceeded.h"
#include "server/errors/error_details.h"
#include "server/rpc/message_io.h"

namespace tensord {
namespace {

constexpr absl::string_view kMessage = "tensord.v1.UploadGraphRequest";
enum Field : uint32_t { kHeader = 1, kChunk = 15 };
// A header holds at most 16 shape hints and 32 names beside its hash.
constexpr size_t kMaxHeaderBytes = 1 << 20;

absl::Status Malformed(const WireReader& reader) {
  return MalformedMessage(kMessage, reader.position());
}

absl::Status CheckHeader(const v1::UploadGraphHeader& header,
                         const ServerConfig& config) {
  if (header.format() != v1::GRAPH_FORMAT_TENSORD &&
      header.format() != v1::GRAPH_FORMAT_ONNX) {
    return BadField("header.format", "give TENSORD or ONNX");
  }
  if (header.size_bytes() <= 0) {
    return BadField(
        "header.size_bytes",
        absl::StrCat(header.size_bytes(), " bytes; give how many will come"));
  }
  if (header.sha256().size() != sizeof(Sha256Digest)) {
    return BadField("header.sha256", absl::StrCat(header.sha256().size(),
                                                  " bytes; a SHA-256 has 32"));
  }
  if (header.size_bytes() > config.max_upload_bytes) {
    LimitDetails details;
    details.limit = "max_upload_bytes";
    details.maximum = config.max_upload_bytes;
    details.requested = header.size_bytes();
    details.unit = "bytes";
    details.scope = "upload";
    return details.ToStatus(
        absl::StrCat("an upload of ", header.size_bytes(), " bytes"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UploadContent::Take(const grpc::ByteBuffer& message) {
  TENSORD_RETURN_IF_ERROR(CheckReceived(message, config_.max_message_bytes));
  is_header_message_ = false;
  BufferSegments segments;
  segments.Assign(message);
  WireReader reader(segments.segments());
  while (!reader.AtEnd()) {
    WireReader::Tag tag;
    if (!reader.ReadTag(tag)) return Malformed(reader);
    if (tag.type == WireReader::kLengthDelimited && tag.field == kHeader) {
      std::string bytes;
      if (!reader.ReadString(kMaxHeaderBytes, bytes)) return Malformed(reader);
      TENSORD_RETURN_IF_ERROR(TakeHeader(bytes));
    } else if (tag.type == WireReader::kLengthDelimited &&
               tag.field == kChunk) {
      size_t length;
      if (!reader.ReadLength(length)) return Malformed(reader);
      TENSORD_RETURN_IF_ERROR(TakeChunk(reader, length));
    } else if (!reader.SkipValue(tag)) {
      return Malformed(reader);
    }
  }
  return absl::OkStatus();
}

absl::Status UploadContent::TakeHeader(const std::string& bytes) {
  if (header_.has_value()) return BadField("header", "there is a second one");
  is_header_message_ = true;
  v1::UploadGraphHeader& header = header_.emplace();
  if (!header.ParseFromString(bytes)) {
    return MalformedMessage("tensord.v1.UploadGraphHeader", 0);
  }
  TENSORD_RETURN_IF_ERROR(CheckHeader(header, config_));
  std::copy_n(header.sha256().begin(), declared_.size(), declared_.begin());
  return absl::OkStatus();
}

absl::Status UploadContent::TakeChunk(WireReader& reader, size_t length) {
  if (!header_.has_value()) {
    return BadField("chunk", "there is no header before it");
  }
  if (is_header_message_) {
    return BadField("chunk", "it is in one message with the header");
  }
  if (length > static_cast<size_t>(header_->size_bytes()) - bytes_.size()) {
    return BadField("chunk",
                    absl::StrCat("more than the ", header_->size_bytes(),
                                 " bytes that the header declares"));
  }
  const size_t before = bytes_.size();
  if (!reader.AppendTo(bytes_, length)) return Malformed(reader);
  sha_.Add(absl::string_view(bytes_).substr(before));
  return absl::OkStatus();
}

absl::Status UploadContent::Reserve() {
  try {
    bytes_.reserve(static_cast<size_t>(header_->size_bytes()));
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for an upload of ", header_->size_bytes(), " bytes"));
  }
  return absl::OkStatus();
}

absl::Status UploadContent::CheckComplete() {
  if (!header_.has_value()) {
    return BadField("header", "the stream ended without one");
  }
  if (bytes_.size() != static_cast<size_t>(header_->size_bytes())) {
    return BadField(
        "chunk",
        absl::StrCat(bytes_.size(), " bytes came, and the header declares ",
                     header_->size_bytes()));
  }
  const Sha256Digest received = sha_.Finish();
  if (received == declared_) return absl::OkStatus();
  const std::string declared_hex = absl::BytesToHexString(header_->sha256());
  const std::string received_hex = absl::BytesToHexString(BytesOf(received));
  return ErrorWithReason(
      absl::StatusCode::kInvalidArgument, v1::HASH_MISMATCH,
      absl::StrCat("the bytes have SHA-256 ", received_hex,
                   ", and the header declares ", declared_hex),
      {{"declared_sha256", declared_hex}, {"received_sha256", received_hex}});
}

}  // namespace tensord
