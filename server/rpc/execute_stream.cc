#include "server/rpc/execute_stream.h"

#include <grpcpp/support/byte_buffer.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/execute_run.h"
#include "server/rpc/message_io.h"
#include "server/rpc/rejection.h"
#include "server/rpc/request_record.h"
#include "server/rpc/status_mapping.h"
#include "server/wire/wire_writer.h"

namespace tensord {
namespace {

constexpr absl::string_view kMessage = "tensord.v1.ExecuteStreamRequest";
// As execution_service.proto says.
constexpr size_t kMaxCorrelationBytes = 128;

namespace request {
enum Field : uint32_t { kCorrelationId = 1, kRequest = 15 };
}
namespace response {
enum Field : uint32_t { kCorrelationId = 1, kError = 2, kResponse = 15 };
}

// One stream. Its requests are items that are used again; what they and gRPC's
// reactions share is under the lock, which is not held while either is called.
class ExecuteStream final
    : public grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>,
      public OpenStreams::Stream,
      public std::enable_shared_from_this<ExecuteStream> {
 public:
  ExecuteStream(const MethodRecord& method, GraphFactsTable& facts,
                RecordedRuns& runs, grpc::CallbackServerContext& context)
      : environment_(method.environment),
        facts_(facts),
        runs_(runs),
        context_(context),
        token_(method.environment.active_calls),
        record_(method),
        trace_id_(record_.TraceId(context)) {}

  static ExecuteStream* Start(std::shared_ptr<ExecuteStream> stream,
                              OpenStreams& streams) {
    ExecuteStream* reactor = stream.get();
    reactor->self_ = stream;
    reactor->StartRead(&reactor->message_);
    streams.Add(std::move(stream));
    return reactor;
  }

  void OnReadDone(bool ok) override {
    Item* item = nullptr;
    {
      absl::MutexLock lock(&mu_);
      if (!ok) {
        has_read_all_ = true;
      } else if (!end_.has_value()) {
        item = TakeItem(message_.Length());
      }
    }
    if (item != nullptr) Begin(*item);
    {
      // Only now, since the next read would overwrite what Begin() looks at.
      absl::MutexLock lock(&mu_);
      is_reading_ = false;
    }
    GoOn();
  }

  void OnWriteDone(bool ok) override {
    Item* written;
    {
      absl::MutexLock lock(&mu_);
      written = std::exchange(writing_, nullptr);
      if (!ok) SetLeft();
    }
    written->answer.Clear();
    written->run.Reset();
    {
      absl::MutexLock lock(&mu_);
      Return(*written);
    }
    GoOn();
  }

  void OnCancel() override {
    {
      absl::MutexLock lock(&mu_);
      SetLeft();
    }
    CancelRuns();
    GoOn();
  }

  void OnDone() override { self_.reset(); }

  void Drain() override {
    {
      absl::MutexLock lock(&mu_);
      SetEnd(ErrorWithReason(absl::StatusCode::kUnavailable, v1::DRAINING,
                             "the daemon is draining; what has no answer did "
                             "not run"));
    }
    GoOn();
  }

 private:
  // A request of the stream. It is one of: idle, running, ready, being written.
  struct Item {
    explicit Item(ExecuteStream& stream)
        : stream(stream),
          run(
              stream.environment_, stream.facts_, stream.runs_,
              [](ExecuteRun&, void* item) {
                auto& self = *static_cast<Item*>(item);
                self.stream.OnRunDone(self);
              },
              this) {}

    ExecuteStream& stream;
    std::string correlation_id;
    ExecuteRun run;
    absl::Status refusal;  // of a request that is not run
    grpc::ByteBuffer answer;
    uint64_t bytes = 0;  // of the request
    bool is_running = false;
  };

  Item* TakeItem(uint64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (idle_.empty()) {
      items_.push_back(std::make_unique<Item>(*this));
      idle_.push_back(items_.back().get());
    }
    Item* item = idle_.back();
    idle_.pop_back();
    item->is_running = true;
    item->bytes = bytes;
    ++open_count_;
    open_bytes_ += bytes;
    return item;
  }

  void Return(Item& item) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    --open_count_;
    open_bytes_ -= item.bytes;
    idle_.push_back(&item);
  }

  // Reads what came into the item and runs it.
  void Begin(Item& item) {
    record_.AddRequestBytes(message_.Length());
    BufferSegments segments;
    std::optional<WireReader> request;
    absl::Status status = Read(item, segments, request);
    if (!status.ok()) {
      // The stream is no stream of requests.
      absl::MutexLock lock(&mu_);
      SetEnd(std::move(status));
      item.is_running = false;
      Return(item);
      return;
    }
    item.refusal = absl::OkStatus();
    if (item.correlation_id.size() > kMaxCorrelationBytes) {
      item.refusal =
          BadField("correlation_id",
                   absl::StrCat(item.correlation_id.size(),
                                " bytes; give at most ", kMaxCorrelationBytes));
    } else if (!request.has_value()) {
      item.refusal = BadField("request", "there is none");
    }
    if (item.refusal.ok()) {
      item.run.Begin(*request, context_, record_);
    } else {
      OnRunDone(item);
    }
    message_.Clear();
  }

  absl::Status Read(Item& item, BufferSegments& segments,
                    std::optional<WireReader>& request) {
    TENSORD_RETURN_IF_ERROR(
        CheckReceived(message_, environment_.config.max_message_bytes));
    segments.Assign(message_);
    item.correlation_id.clear();
    WireReader reader(segments.segments());
    while (!reader.AtEnd()) {
      WireReader::Tag tag;
      if (!reader.ReadTag(tag)) return Malformed(reader);
      const bool is_bytes = tag.type == WireReader::kLengthDelimited;
      if (is_bytes && tag.field == request::kCorrelationId) {
        // One longer than allowed is refused with its length.
        if (!reader.ReadString(reader.remaining(), item.correlation_id)) {
          return Malformed(reader);
        }
      } else if (is_bytes && tag.field == request::kRequest) {
        if (request.has_value()) return Malformed(reader);
        WireReader nested = reader;
        size_t outer_end;
        if (!nested.Enter(outer_end)) return Malformed(reader);
        request = nested;
        if (!reader.SkipValue(tag)) return Malformed(reader);
      } else if (!reader.SkipValue(tag)) {
        return Malformed(reader);
      }
    }
    return absl::OkStatus();
  }

  static absl::Status Malformed(const WireReader& reader) {
    return MalformedMessage(kMessage, reader.position());
  }

  void OnRunDone(Item& item) {
    // The stream may be gone as soon as the answer is on its way.
    const auto self = shared_from_this();
    MakeAnswer(item);
    {
      absl::MutexLock lock(&mu_);
      item.is_running = false;
      ready_.push_back(&item);
    }
    GoOn();
  }

  void MakeAnswer(Item& item) {
    const absl::Status& status =
        item.refusal.ok() ? item.run.status() : item.refusal;
    std::string head;
    WireWriter out(head);
    if (!item.correlation_id.empty()) {
      out.Bytes(response::kCorrelationId, item.correlation_id);
    }
    std::vector<grpc::Slice> slices;
    if (status.ok()) {
      out.Begin(response::kResponse, item.run.answer_bytes());
      slices.emplace_back(head);
      item.run.TakeAnswer(slices);
    } else {
      if (const auto reason = RejectionOf(status); reason.has_value()) {
        environment_.executions.RecordRejection(*reason);
      }
      out.Bytes(response::kError,
                ToRpcStatus(status, trace_id_).SerializeAsString());
      slices.emplace_back(head);
    }
    grpc::ByteBuffer(slices.data(), slices.size()).Swap(&item.answer);
  }

  // The first one stays.
  void SetEnd(absl::Status status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (!end_.has_value()) end_ = std::move(status);
  }

  void SetLeft() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    has_left_ = true;
    SetEnd(absl::CancelledError("the client left the stream"));
  }

  // What can be done next: a write, a read, the end.
  void GoOn() {
    const auto self = shared_from_this();
    bool reads = false;
    Item* item = nullptr;
    std::optional<absl::Status> end;
    std::vector<Item*> dropped;
    {
      absl::MutexLock lock(&mu_);
      if (is_finished_) return;
      if (has_left_ && writing_ == nullptr) DropReady(dropped);
      if (writing_ == nullptr && !ready_.empty()) {
        item = writing_ = ready_.front();
        ready_.pop_front();
      }
      if (!is_reading_ && !has_read_all_ && !end_.has_value() && HasRoom()) {
        reads = is_reading_ = true;
        ++starting_reads_;
      }
      const bool is_over = end_.has_value() || has_read_all_;
      if (is_over && open_count_ == 0 && starting_reads_ == 0) {
        is_finished_ = true;
        end = end_.value_or(absl::OkStatus());
      }
    }
    for (Item* unread : dropped) unread->answer.Clear();
    if (item != nullptr) StartWrite(&item->answer);
    if (end.has_value()) Finish(record_.End(*end, context_));
    if (reads) BeginRead();
  }

  void BeginRead() {
    StartRead(&message_);
    {
      absl::MutexLock lock(&mu_);
      --starting_reads_;
    }
    // The end may have come between.
    GoOn();
  }

  bool HasRoom() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return open_count_ < environment_.config.max_stream_executions &&
           open_bytes_ <
               static_cast<uint64_t>(environment_.config.max_message_bytes);
  }

  // Nobody is there to read them. They are not idle either: what still may be
  // cancelled stays what it was.
  void DropReady(std::vector<Item*>& dropped)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    open_count_ -= static_cast<int64_t>(ready_.size());
    dropped.assign(ready_.begin(), ready_.end());
    ready_.clear();
  }

  // No item is used again once the client has left, so that each of these is
  // still what it was.
  void CancelRuns() {
    std::vector<Item*> running;
    {
      absl::MutexLock lock(&mu_);
      for (const auto& item : items_) {
        if (item->is_running) running.push_back(item.get());
      }
    }
    for (Item* item : running) item->run.Cancel();
  }

  const ServiceEnvironment& environment_;
  GraphFactsTable& facts_;
  RecordedRuns& runs_;
  grpc::CallbackServerContext& context_;
  const ActiveCalls::Token token_;
  RequestRecord record_;
  const std::string trace_id_;  // of all its answers, which threads share
  std::shared_ptr<ExecuteStream> self_;  // until gRPC is done with it
  grpc::ByteBuffer message_;             // of the read under way

  absl::Mutex mu_;
  std::vector<std::unique_ptr<Item>> items_ ABSL_GUARDED_BY(mu_);
  std::vector<Item*> idle_ ABSL_GUARDED_BY(mu_);
  std::deque<Item*> ready_ ABSL_GUARDED_BY(mu_);
  Item* writing_ ABSL_GUARDED_BY(mu_) = nullptr;
  int64_t open_count_ ABSL_GUARDED_BY(mu_) = 0;  // items that are not idle
  uint64_t open_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_reading_ ABSL_GUARDED_BY(mu_) = true;
  // Reads that are decided on and not yet started: nothing may be started after
  // the end.
  int starting_reads_ ABSL_GUARDED_BY(mu_) = 0;
  bool has_read_all_ ABSL_GUARDED_BY(mu_) = false;
  bool has_left_ ABSL_GUARDED_BY(mu_) = false;
  bool is_finished_ ABSL_GUARDED_BY(mu_) = false;
  // Why no more requests are taken; with OK they are.
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mu_);
};

}  // namespace

void OpenStreams::Add(std::weak_ptr<Stream> stream) {
  bool is_draining;
  {
    absl::MutexLock lock(&mu_);
    is_draining = is_draining_;
    if (!is_draining) {
      streams_.erase(
          std::remove_if(streams_.begin(), streams_.end(),
                         [](const auto& it) { return it.expired(); }),
          streams_.end());
      streams_.push_back(stream);
    }
  }
  if (!is_draining) return;
  if (const auto open = stream.lock()) open->Drain();
}

void OpenStreams::Drain() {
  std::vector<std::weak_ptr<Stream>> streams;
  {
    absl::MutexLock lock(&mu_);
    is_draining_ = true;
    streams.swap(streams_);
  }
  for (const auto& stream : streams) {
    if (const auto open = stream.lock()) open->Drain();
  }
}

RawService::BidiHandler MakeStreamHandler(const MethodRecord& method,
                                          GraphFactsTable& facts,
                                          RecordedRuns& runs,
                                          OpenStreams& streams) {
  return
      [&method, &facts, &runs, &streams](grpc::CallbackServerContext* context) {
        return ExecuteStream::Start(
            std::make_shared<ExecuteStream>(method, facts, runs, *context),
            streams);
      };
}

}  // namespace tensord
