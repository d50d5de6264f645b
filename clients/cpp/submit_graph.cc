#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "clients/cpp/client.h"
#include "clients/cpp/connection.h"
#include "clients/cpp/sha256.h"

namespace tensord {
namespace {

// Room for the options and the tags of a SubmitGraphRequest beside its graph.
constexpr int64_t kEnvelopeBytes = 64 << 10;

// What one protobuf message can hold.
constexpr int64_t kProtobufMaxBytes = (int64_t{1} << 31) - 1;

// A chunk for a daemon that does not say how low its limit is.
constexpr int64_t kSmallChunkBytes = 64 << 10;

// A daemon whose limit is lower than ours refuses the message, by our own typed
// detail or, when the transport sees it first, by gRPC's text alone. Returns
// the size of chunks that it will take; 0 for any other error.
int64_t ChunkBytesAfter(const absl::Status& refusal) {
  if (!absl::IsResourceExhausted(refusal)) return 0;
  if (const auto limit = ErrorDetail<v1::LimitExceeded>(refusal)) {
    if (limit->limit() != "max_message_bytes") return 0;
    return std::max<int64_t>(limit->maximum() / 2, 1);
  }
  return absl::StrContains(refusal.message(), "larger than max")
             ? kSmallChunkBytes
             : 0;
}

}  // namespace

absl::StatusOr<v1::SubmitGraphResponse> Client::SubmitGraph(
    v1::GraphFormat format, absl::string_view bytes,
    const v1::CompileOptions& compile, const CallOptions& call) {
  const absl::Time deadline = connection_->DeadlineOf(call);
  return WithRetries(
      connection_->RetryOf(call), Repeat::kAlways, deadline,
      [&] { return SubmitOnce(format, bytes, compile, deadline); });
}

absl::StatusOr<v1::SubmitGraphResponse> Client::SubmitOnce(
    v1::GraphFormat format, absl::string_view bytes,
    const v1::CompileOptions& compile, absl::Time deadline) {
  const int64_t size_bytes = static_cast<int64_t>(bytes.size());
  const int64_t max_bytes =
      std::min(connection_->options.max_message_bytes, kProtobufMaxBytes);
  if (size_bytes > max_bytes - kEnvelopeBytes) {
    return UploadGraph(format, bytes, compile,
                       connection_->options.upload_chunk_bytes, deadline);
  }
  v1::SubmitGraphRequest request;
  *request.mutable_options() = compile;
  if (format == v1::GRAPH_FORMAT_ONNX) {
    request.set_onnx(std::string(bytes));
  } else if (!request.mutable_graph()->ParseFromArray(
                 bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("the bytes are no tensord.v1.Graph");
  }
  auto response =
      Unary(*connection_->graphs, &v1::GraphService::Stub::SubmitGraph, request,
            deadline);
  if (response.ok()) return response;
  const int64_t chunk_bytes = ChunkBytesAfter(response.status());
  if (chunk_bytes == 0) return response;
  return UploadGraph(
      format, bytes, compile,
      std::min(chunk_bytes, connection_->options.upload_chunk_bytes), deadline);
}

absl::StatusOr<v1::SubmitGraphResponse> Client::SubmitGraph(
    const v1::Graph& graph, const v1::CompileOptions& compile,
    const CallOptions& call) {
  return SubmitGraph(v1::GRAPH_FORMAT_TENSORD, graph.SerializeAsString(),
                     compile, call);
}

absl::StatusOr<v1::SubmitGraphResponse> Client::UploadGraph(
    v1::GraphFormat format, absl::string_view bytes,
    const v1::CompileOptions& compile, int64_t chunk_bytes,
    absl::Time deadline) {
  grpc::ClientContext context;
  SetDeadline(context, deadline);
  v1::SubmitGraphResponse response;
  const auto writer = connection_->graphs->UploadGraph(&context, &response);

  v1::UploadGraphRequest message;
  v1::UploadGraphHeader& header = *message.mutable_header();
  header.set_format(format);
  header.set_size_bytes(static_cast<int64_t>(bytes.size()));
  header.set_sha256(Sha256(bytes));
  *header.mutable_options() = compile;
  bool is_open = writer->Write(message);

  const size_t step = static_cast<size_t>(std::max<int64_t>(chunk_bytes, 1));
  for (size_t sent = 0; is_open && sent < bytes.size(); sent += step) {
    const absl::string_view chunk = bytes.substr(sent, step);
    message.set_chunk(chunk.data(), chunk.size());
    // A write fails when the server has answered already: with an error, or
    // because it holds the graph. Finish() tells which.
    is_open = writer->Write(message);
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  if (!status.ok()) return StatusFromGrpc(status);
  return response;
}

}  // namespace tensord
