#include "server/rpc/tensor_upload_call.h"

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/idle_watch.h"
#include "server/rpc/message_io.h"
#include "server/rpc/request_record.h"
#include "server/rpc/session_of.h"
#include "server/rpc/tensor_messages.h"
#include "server/rpc/tensor_upload_header.h"
#include "server/wire/tensor_check.h"
#include "server/wire/wire_reader.h"

namespace tensord {
namespace {

constexpr absl::string_view kMessage = "tensord.v1.UploadTensorRequest";
enum Field : uint32_t { kHeader = 1, kChunk = 15 };
constexpr size_t kMaxHeaderBytes = 64 << 10;

absl::Status Malformed(const WireReader& reader) {
  return MalformedMessage(kMessage, reader.position());
}

// One stream. Its reactions come one after another; the watch only cancels it.
class TensorUploadCall final
    : public grpc::ServerReadReactor<grpc::ByteBuffer> {
 public:
  TensorUploadCall(const MethodRecord& method,
                   grpc::CallbackServerContext& context,
                   grpc::ByteBuffer& response)
      : environment_(method.environment),
        context_(context),
        response_(response),
        token_(method.environment.active_calls),
        record_(method) {
    idle_.Start(environment_.config.upload_idle_timeout);
    StartRead(&message_);
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Complete();
      return;
    }
    record_.AddRequestBytes(message_.Length());
    idle_.NoteProgress();
    absl::Status status = Take();
    message_.Clear();
    if (status.ok()) {
      StartRead(&message_);
    } else {
      End(std::move(status), Rest::kDropped);
    }
  }

  void OnDone() override { delete this; }

 private:
  // What becomes of an upload that has an upload_id.
  enum class Rest : uint8_t { kDropped, kKept, kMadeTensor };

  absl::Status Take() {
    TENSORD_RETURN_IF_ERROR(
        CheckReceived(message_, environment_.config.max_message_bytes));
    BufferSegments segments;
    segments.Assign(message_);
    WireReader reader(segments.segments());
    const bool had_header = upload_ != nullptr;
    while (!reader.AtEnd()) {
      WireReader::Tag tag;
      if (!reader.ReadTag(tag)) return Malformed(reader);
      const bool is_bytes = tag.type == WireReader::kLengthDelimited;
      if (is_bytes && tag.field == kHeader) {
        std::string bytes;
        if (!reader.ReadString(kMaxHeaderBytes, bytes)) {
          return Malformed(reader);
        }
        TENSORD_RETURN_IF_ERROR(TakeHeader(bytes));
      } else if (is_bytes && tag.field == kChunk) {
        if (!had_header)
          return BadField("chunk", "there is no header before it");
        TENSORD_RETURN_IF_ERROR(TakeChunk(reader));
      } else if (!reader.SkipValue(tag)) {
        return Malformed(reader);
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeHeader(const std::string& bytes) {
    if (upload_ != nullptr) return BadField("header", "there is a second one");
    v1::UploadTensorHeader message;
    if (!message.ParseFromString(bytes)) {
      return MalformedMessage("tensord.v1.UploadTensorHeader", 0);
    }
    TENSORD_RETURN_IF_ERROR(environment_.holdings.CheckAdmitting());
    TENSORD_ASSIGN_OR_RETURN(TensorUpload::Header header,
                             ReadUploadHeader(message, environment_));
    TENSORD_ASSIGN_OR_RETURN(
        session_, SessionOf(environment_, message.session_id(), context_));
    const auto make = [&]() -> absl::StatusOr<PartialUploads::Pointer> {
      TENSORD_ASSIGN_OR_RETURN(Session::Lease lease,
                               Session::Take(session_, header.size_bytes));
      TENSORD_ASSIGN_OR_RETURN(
          PooledBuffer bytes,
          environment_.engine.buffers().Allocate(header.size_bytes));
      return std::make_shared<TensorUpload>(header, std::move(lease),
                                            std::move(bytes));
    };
    if (message.upload_id().empty()) {
      TENSORD_ASSIGN_OR_RETURN(upload_, make());
      return absl::OkStatus();
    }
    TENSORD_ASSIGN_OR_RETURN(
        upload_, environment_.holdings.uploads.Open(
                     session_, message.upload_id(), header,
                     static_cast<uint64_t>(message.offset_bytes()), make));
    upload_id_ = message.upload_id();
    return absl::OkStatus();
  }

  absl::Status TakeChunk(WireReader& reader) {
    size_t length;
    if (!reader.ReadLength(length)) return Malformed(reader);
    if (length > upload_->missing()) {
      return BadField(
          "chunk", absl::StrCat("more than the ", upload_->header().size_bytes,
                                " bytes of the tensor"));
    }
    if (!reader.CopyTo(upload_->next(), length)) return Malformed(reader);
    upload_->Advance(length);
    session_->Touch(absl::Now());
    return absl::OkStatus();
  }

  // The client has sent its last chunk, or has gone.
  void Complete() {
    if (context_.IsCancelled()) {
      End(absl::CancelledError("the client left, or sent nothing for too long, "
                               "in the middle of an upload"),
          Rest::kKept);
    } else if (upload_ == nullptr) {
      End(BadField("header", "the stream ended without one"), Rest::kDropped);
    } else if (upload_->missing() > 0) {
      End(upload_->CheckComplete(), Rest::kKept);
    } else {
      absl::Status status = MakeTensor();
      const Rest rest = status.ok() ? Rest::kMadeTensor : Rest::kDropped;
      End(std::move(status), rest);
    }
  }

  absl::Status MakeTensor() {
    const TensorUpload::Header& header = upload_->header();
    TENSORD_RETURN_IF_ERROR(upload_->CheckComplete());
    HostValue value = {header.dtype, header.shape, upload_->TakeBytes()};
    TENSORD_RETURN_IF_ERROR(CheckTensorBytes("upload", value));
    ResidentTensor::Description description;
    description.id = NewResourceId(environment_.config.advertised_name);
    description.dtype = header.dtype;
    description.shape = header.shape;
    description.device = header.device;
    description.create_time = absl::Now();
    description.time_to_live =
        header.time_to_live.value_or(session_->description().time_to_live);
    description.content_sha256 = upload_->content_sha256();
    tensor_id_ = description.id;
    const auto tensor = std::make_shared<const ResidentTensor>(
        std::move(description), session_, upload_->TakeLease(),
        std::make_shared<const PooledBuffer>(std::move(value.bytes)));
    TENSORD_RETURN_IF_ERROR(environment_.holdings.tensors.Add(tensor));
    v1::TensorInfo info;
    FillTensorInfo(*tensor, info);
    return SerializeMessage(info, environment_.config.max_message_bytes,
                            response_);
  }

  // Once. Nothing touches the call afterwards, but for the watch until it has
  // stopped: then it finishes the call.
  void End(absl::Status status, Rest rest) {
    upload_.reset();
    if (!upload_id_.empty()) {
      PartialUploads& uploads = environment_.holdings.uploads;
      switch (rest) {
        case Rest::kDropped:
          uploads.Drop(*session_, upload_id_);
          break;
        case Rest::kKept:
          uploads.Pause(*session_, upload_id_, absl::Now());
          break;
        case Rest::kMadeTensor:
          uploads.Complete(*session_, upload_id_, tensor_id_, absl::Now());
          break;
      }
    }
    idle_.Stop([this, end = record_.End(status, context_)] { Finish(end); });
  }

  const ServiceEnvironment& environment_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  const ActiveCalls::Token token_;
  RequestRecord record_;
  IdleWatch idle_{[this] { context_.TryCancel(); }};

  grpc::ByteBuffer message_;
  std::shared_ptr<Session> session_;
  PartialUploads::Pointer upload_;  // once there is a header
  std::string upload_id_;
  std::string tensor_id_;
};

}  // namespace

RawService::ReadHandler MakeTensorUploadHandler(const MethodRecord& method) {
  return [&method](grpc::CallbackServerContext* context,
                   grpc::ByteBuffer* response) {
    return new TensorUploadCall(method, *context, *response);
  };
}

}  // namespace tensord
