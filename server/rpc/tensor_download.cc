#include "server/rpc/tensor_download.h"

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/message_io.h"
#include "server/rpc/owned_slice.h"
#include "server/rpc/principal.h"
#include "server/rpc/request_record.h"
#include "server/rpc/tensor_messages.h"
#include "server/sessions/resource_id.h"
#include "server/wire/wire_writer.h"
#include "tensord/v1/tensor_service.pb.h"

namespace tensord {
namespace {

// As tensor_service.proto says.
constexpr int64_t kDefaultChunkBytes = 1 << 20;
constexpr int64_t kMaxChunkBytes = 16 << 20;
// Of the message around a chunk.
constexpr int64_t kChunkHeadBytes = 16;
constexpr uint32_t kChunkField = 15;

// One stream: a write is under way until its last one is done.
class TensorDownload final : public grpc::ServerWriteReactor<grpc::ByteBuffer> {
 public:
  TensorDownload(const MethodRecord& method,
                 grpc::CallbackServerContext& context,
                 const grpc::ByteBuffer& request)
      : environment_(method.environment),
        context_(context),
        token_(method.environment.active_calls),
        record_(method) {
    absl::Status status = Begin(request);
    if (status.ok()) {
      StartWrite(&message_);
    } else {
      End(std::move(status));
    }
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      End(absl::CancelledError("the client left in the middle of a download"));
    } else if (offset_ == end_) {
      End(absl::OkStatus());
    } else {
      FillChunk();
      StartWrite(&message_);
    }
  }

  void OnDone() override { delete this; }

 private:
  absl::Status Begin(const grpc::ByteBuffer& bytes) {
    const ServerConfig& config = environment_.config;
    record_.AddRequestBytes(bytes.Length());
    v1::DownloadTensorRequest request;
    TENSORD_RETURN_IF_ERROR(
        ParseMessage(bytes, config.max_message_bytes, request));
    TENSORD_RETURN_IF_ERROR(
        CheckResourceId("tensor", request.tensor_id(), config.advertised_name));
    TENSORD_ASSIGN_OR_RETURN(
        tensor_, environment_.holdings.tensors.Find(
                     request.tensor_id(), PrincipalOf(context_), absl::Now()));
    TENSORD_RETURN_IF_ERROR(SetRange(request));
    v1::DownloadTensorResponse response;
    FillTensorInfo(*tensor_, *response.mutable_tensor());
    return SerializeMessage(response, config.max_message_bytes, message_);
  }

  absl::Status SetRange(const v1::DownloadTensorRequest& request) {
    const auto size = static_cast<int64_t>(tensor_->size_bytes());
    if (request.offset_bytes() < 0 || request.offset_bytes() > size) {
      return BadField("offset_bytes",
                      absl::StrCat(request.offset_bytes(),
                                   "; give 0 to the tensor's size, ", size));
    }
    const int64_t left = size - request.offset_bytes();
    const int64_t wanted =
        request.has_size_bytes() ? request.size_bytes() : left;
    if (wanted < 0 || wanted > left) {
      return BadField("size_bytes",
                      absl::StrCat(wanted, "; from ", request.offset_bytes(),
                                   " on there are ", left));
    }
    if (request.chunk_bytes() < 0) {
      return BadField("chunk_bytes",
                      absl::StrCat(request.chunk_bytes(), " is negative"));
    }
    const int64_t asked =
        request.chunk_bytes() == 0 ? kDefaultChunkBytes : request.chunk_bytes();
    chunk_bytes_ =
        std::min({asked, kMaxChunkBytes,
                  environment_.config.max_message_bytes - kChunkHeadBytes});
    offset_ = request.offset_bytes();
    end_ = offset_ + wanted;
    return absl::OkStatus();
  }

  void FillChunk() {
    const int64_t size = std::min(chunk_bytes_, end_ - offset_);
    std::string head;
    WireWriter(head).Begin(kChunkField, static_cast<uint64_t>(size));
    const grpc::Slice slices[] = {grpc::Slice(head),
                                  OwnedSlice(tensor_->bytes()->data() + offset_,
                                             static_cast<size_t>(size), tensor_,
                                             environment_.active_calls)};
    grpc::ByteBuffer(slices, 2).Swap(&message_);
    offset_ += size;
  }

  // Once. Nothing touches the call afterwards.
  void End(absl::Status status) { Finish(record_.End(status, context_)); }

  const ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  const ActiveCalls::Token token_;
  RequestRecord record_;

  TensorTable::Pointer tensor_;
  int64_t chunk_bytes_ = 0;
  int64_t offset_ = 0;  // of the next chunk
  int64_t end_ = 0;
  grpc::ByteBuffer message_;
};

}  // namespace

RawService::WriteHandler MakeTensorDownloadHandler(const MethodRecord& method) {
  return [&method](grpc::CallbackServerContext* context,
                   const grpc::ByteBuffer* request) {
    return new TensorDownload(method, *context, *request);
  };
}

}  // namespace tensord
