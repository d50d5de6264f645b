#include "server/rpc/graph_upload.h"

#include <grpcpp/alarm.h>
#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/graph/status_macros.h"
#include "engine/limit_exceeded.h"
#include "server/errors/error_details.h"
#include "server/rpc/byte_budget.h"
#include "server/rpc/message_io.h"
#include "server/rpc/principal.h"
#include "server/rpc/request_record.h"
#include "server/wire/wire_reader.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {
namespace {

constexpr absl::string_view kMessage = "tensord.v1.UploadGraphRequest";
enum Field : uint32_t { kHeader = 1, kChunk = 15 };
// A header holds at most 16 shape hints and 32 names beside its hash.
constexpr size_t kMaxHeaderBytes = 1 << 20;

absl::string_view BytesOf(const Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
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

// One stream. Reactions come one after another but for OnCancel and the alarm;
// what these share with the others is under the lock, which is never held when
// gRPC is called.
class GraphUpload final : public grpc::ServerReadReactor<grpc::ByteBuffer>,
                          public std::enable_shared_from_this<GraphUpload> {
 public:
  GraphUpload(const MethodRecord& method, GraphSubmitter& submitter,
              ByteBudget& budget, grpc::CallbackServerContext& context,
              grpc::ByteBuffer& response)
      : environment_(method.environment),
        submitter_(submitter),
        budget_(budget),
        context_(context),
        response_(response),
        token_(method.environment.active_calls),
        record_(method) {}

  static GraphUpload* Start(std::shared_ptr<GraphUpload> upload) {
    GraphUpload* reactor = upload.get();
    reactor->self_ = std::move(upload);
    reactor->StartRead(&reactor->message_);
    return reactor;
  }

  void OnReadDone(bool ok) override {
    if (!ok) {
      Complete();
      return;
    }
    const absl::Status status = TakeMessage();
    message_.Clear();
    if (!status.ok()) {
      End(status);
      return;
    }
    switch (next_) {
      case Next::kRead:
        StartRead(&message_);
        return;
      case Next::kAwaitBudget:
        AwaitBudget();
        return;
      case Next::kAnswer:
        Answer(*std::move(held_));
        return;
    }
  }

  void OnCancel() override {
    {
      absl::MutexLock lock(&mu_);
      if (!is_waiting_) return;  // the read fails, and ends the call
      is_waiting_ = false;
    }
    End(absl::CancelledError("the client left while it waited for memory"));
  }

  void OnDone() override { self_.reset(); }

 private:
  enum class Next : uint8_t { kRead, kAwaitBudget, kAnswer };

  // Reads the header or a chunk, and sets what is next.
  absl::Status TakeMessage() {
    record_.AddRequestBytes(message_.Length());
    TENSORD_RETURN_IF_ERROR(
        CheckReceived(message_, environment_.config.max_message_bytes));
    next_ = Next::kRead;
    last_progress_ns_.store(absl::GetCurrentTimeNanos(),
                            std::memory_order_relaxed);
    BufferSegments segments;
    segments.Assign(message_);
    WireReader reader(segments.segments());
    while (!reader.AtEnd()) {
      WireReader::Tag tag;
      if (!reader.ReadTag(tag)) return Malformed(reader);
      if (tag.type == WireReader::kLengthDelimited && tag.field == kHeader) {
        std::string bytes;
        if (!reader.ReadString(kMaxHeaderBytes, bytes)) {
          return Malformed(reader);
        }
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

  absl::Status TakeHeader(const std::string& bytes) {
    if (header_.has_value()) {
      return BadField("header", "there is a second one");
    }
    v1::UploadGraphHeader& header = header_.emplace();
    if (!header.ParseFromString(bytes)) {
      return MalformedMessage("tensord.v1.UploadGraphHeader", 0);
    }
    TENSORD_RETURN_IF_ERROR(CheckHeader(header, environment_.config));
    TENSORD_RETURN_IF_ERROR(submitter_.CheckOptions(header.options()));
    std::copy_n(header.sha256().begin(), declared_.size(), declared_.begin());
    next_ = Next::kAwaitBudget;
    // A graph that this principal holds need not be sent again.
    absl::StatusOr<v1::SubmitGraphResponse> held = submitter_.FindHeld(
        GraphIdOf(header.format(), declared_, header.options()),
        PrincipalOf(context_));
    if (held.ok()) {
      held_ = std::move(held);
      next_ = Next::kAnswer;
    }
    return absl::OkStatus();
  }

  absl::Status TakeChunk(WireReader& reader, size_t length) {
    if (!header_.has_value()) {
      return BadField("chunk", "there is no header before it");
    }
    if (next_ != Next::kRead) {
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

  void AwaitBudget() {
    {
      absl::MutexLock lock(&mu_);
      is_waiting_ = true;
    }
    // The call may be over when its turn comes, so it is kept until then.
    budget_.Request(static_cast<uint64_t>(header_->size_bytes()), claim_,
                    [self = shared_from_this()] { self->ReadOn(); });
    if (context_.IsCancelled()) OnCancel();
  }

  void ReadOn() {
    {
      absl::MutexLock lock(&mu_);
      if (!is_waiting_) return;
      is_waiting_ = false;
    }
    try {
      bytes_.reserve(static_cast<size_t>(header_->size_bytes()));
    } catch (const std::bad_alloc&) {
      End(absl::ResourceExhaustedError(absl::StrCat(
          "no memory for an upload of ", header_->size_bytes(), " bytes")));
      return;
    }
    last_progress_ns_.store(absl::GetCurrentTimeNanos(),
                            std::memory_order_relaxed);
    {
      absl::MutexLock lock(&mu_);
      is_alarm_set_ = true;
    }
    SetAlarm();
    StartRead(&message_);
  }

  // --- A client that has its part of the budget and sends nothing keeps others
  // waiting: after a while its call is cancelled. The call is not finished
  // while the alarm may still look at it.

  void SetAlarm() {
    alarm_.Set(absl::ToChronoTime(absl::Now() + IdleTimeout()),
               [self = shared_from_this()](bool) { self->OnAlarm(); });
  }

  absl::Duration IdleTimeout() const {
    return environment_.config.upload_idle_timeout;
  }

  void OnAlarm() {
    const absl::Duration idle =
        absl::Now() -
        absl::FromUnixNanos(last_progress_ns_.load(std::memory_order_relaxed));
    const bool is_idle = idle >= IdleTimeout();
    if (is_idle) context_.TryCancel();
    bool is_over;
    {
      absl::MutexLock lock(&mu_);
      is_over = end_.has_value();
      is_alarm_set_ = !is_over && !is_idle;
    }
    if (is_over) {
      Finish(*end_);
    } else if (!is_idle) {
      SetAlarm();
    }
  }

  // The client has sent its last chunk, or has gone.
  void Complete() {
    if (context_.IsCancelled()) {
      End(absl::CancelledError(
          "the client left, or sent nothing for too long, in the middle of an "
          "upload"));
      return;
    }
    const absl::Status status = CheckComplete();
    if (!status.ok()) {
      End(status);
      return;
    }
    GraphSubmitter::Received received;
    received.format = header_->format();
    received.bytes = std::move(bytes_);
    received.digest = declared_;
    received.options = header_->options();
    received.principal = std::string(PrincipalOf(context_));
    // What comes now takes its own time.
    last_progress_ns_.store(INT64_MAX, std::memory_order_relaxed);
    submitter_.Submit(std::move(received),
                      [this](absl::StatusOr<v1::SubmitGraphResponse> response) {
                        Answer(std::move(response));
                      });
  }

  absl::Status CheckComplete() {
    if (!header_.has_value()) {
      return BadField("header", "the stream ended without one");
    }
    if (bytes_.size() != static_cast<size_t>(header_->size_bytes())) {
      return BadField("chunk", absl::StrCat(bytes_.size(),
                                            " bytes came, and the header "
                                            "declares ",
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

  void Answer(absl::StatusOr<v1::SubmitGraphResponse> response) {
    End(response.ok()
            ? SerializeMessage(*response, environment_.config.max_message_bytes,
                               response_)
            : response.status());
  }

  // Once. Nothing touches the call afterwards, but for an alarm that is set:
  // then it finishes the call.
  void End(const absl::Status& status) {
    std::string().swap(bytes_);
    claim_.Release();
    grpc::Status end = record_.End(status, context_);
    const std::shared_ptr<GraphUpload> self = shared_from_this();
    bool is_alarm_set;
    {
      absl::MutexLock lock(&mu_);
      is_alarm_set = is_alarm_set_;
      if (is_alarm_set) end_ = std::move(end);
    }
    if (is_alarm_set) {
      alarm_.Cancel();
    } else {
      Finish(std::move(end));
    }
  }

  absl::Status Malformed(const WireReader& reader) const {
    return MalformedMessage(kMessage, reader.position());
  }

  const ServiceEnvironment& environment_;
  GraphSubmitter& submitter_;
  ByteBudget& budget_;
  grpc::CallbackServerContext& context_;
  grpc::ByteBuffer& response_;
  const ActiveCalls::Token token_;
  RequestRecord record_;
  std::shared_ptr<GraphUpload> self_;  // until gRPC is done with it

  grpc::ByteBuffer message_;
  Next next_ = Next::kRead;
  std::optional<v1::UploadGraphHeader> header_;
  std::optional<absl::StatusOr<v1::SubmitGraphResponse>> held_;
  Sha256Digest declared_;
  Sha256 sha_;
  std::string bytes_;
  ByteBudget::Claim claim_;
  grpc::Alarm alarm_;
  std::atomic<int64_t> last_progress_ns_{0};

  absl::Mutex mu_;
  bool is_waiting_ ABSL_GUARDED_BY(mu_) = false;  // for the budget
  bool is_alarm_set_ ABSL_GUARDED_BY(mu_) = false;
  // What to finish with; set once, with the alarm set.
  std::optional<grpc::Status> end_;
};

}  // namespace

RawService::ReadHandler MakeUploadHandler(const MethodRecord& method,
                                          GraphSubmitter& submitter) {
  auto budget = std::make_shared<ByteBudget>(
      static_cast<uint64_t>(method.environment.config.upload_budget_bytes));
  return [&method, &submitter, budget](grpc::CallbackServerContext* context,
                                       grpc::ByteBuffer* response) {
    return GraphUpload::Start(std::make_shared<GraphUpload>(
        method, submitter, *budget, *context, *response));
  };
}

}  // namespace tensord
