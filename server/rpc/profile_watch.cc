#include "server/rpc/profile_watch.h"

#include <grpcpp/alarm.h>
#include <grpcpp/support/byte_buffer.h>

#include <atomic>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "engine/graph/status_macros.h"
#include "engine/limit_exceeded.h"
#include "server/errors/error_details.h"
#include "server/rpc/message_io.h"
#include "server/rpc/profile_messages.h"
#include "server/rpc/request_record.h"

namespace tensord {
namespace {

// As profile_service.proto says.
constexpr absl::Duration kDefaultInterval = absl::Seconds(1);
constexpr absl::Duration kMinInterval = absl::Milliseconds(100);
constexpr absl::Duration kMaxInterval = absl::Hours(1);

absl::StatusOr<absl::Duration> IntervalOf(
    const v1::WatchOpProfileRequest& request) {
  if (!request.has_interval()) return kDefaultInterval;
  const absl::Duration interval = absl::Seconds(request.interval().seconds()) +
                                  absl::Nanoseconds(request.interval().nanos());
  if (interval < kMinInterval || interval > kMaxInterval) {
    return BadField("interval",
                    absl::StrCat(absl::FormatDuration(interval),
                                 " is out of range; give 100ms to 1h"));
  }
  return interval;
}

absl::Status TooMany(int64_t max_watchers) {
  LimitDetails details;
  details.limit = "max_watchers";
  details.maximum = max_watchers;
  details.requested = max_watchers + 1;
  details.unit = "watchers";
  details.scope = "daemon";
  details.may_retry = true;
  return details.ToStatus("there are as many watchers as may be");
}

// One watcher. It is either writing or waiting for its alarm; both end in one
// of the reactions below, one at a time. A call that is over is seen there:
// cancelling ends the wait at once.
class Watch final : public grpc::ServerWriteReactor<grpc::ByteBuffer>,
                    public std::enable_shared_from_this<Watch> {
 public:
  Watch(const MethodRecord& method, const ReadProfile& read,
        std::atomic<int64_t>& watcher_count,
        grpc::CallbackServerContext& context)
      : config_(method.environment.config),
        read_(read),
        watcher_count_(watcher_count),
        context_(context),
        record_(method) {}

  static Watch* Start(std::shared_ptr<Watch> watch,
                      const grpc::ByteBuffer& request) {
    Watch* reactor = watch.get();
    reactor->self_ = std::move(watch);
    absl::Status status = reactor->Begin(request);
    if (status.ok()) {
      reactor->WriteNext();
    } else {
      reactor->End(status);
    }
    return reactor;
  }

  void OnWriteDone(bool ok) override {
    if (!ok) {
      End(absl::CancelledError("the watcher left"));
      return;
    }
    {
      absl::MutexLock lock(&mu_);
      is_waiting_ = true;
    }
    alarm_.Set(absl::ToChronoTime(absl::Now() + interval_),
               // An alarm keeps what it calls as long as itself.
               [weak = weak_from_this()](bool) {
                 if (const auto self = weak.lock()) self->OnAlarm();
               });
    // A cancellation that came before the alarm was set found nothing to wake.
    if (context_.IsCancelled()) alarm_.Cancel();
  }

  void OnCancel() override {
    bool is_waiting;
    {
      absl::MutexLock lock(&mu_);
      is_waiting = is_waiting_;
    }
    if (is_waiting) alarm_.Cancel();
  }

  void OnDone() override {
    if (is_counted_) watcher_count_.fetch_sub(1, std::memory_order_relaxed);
    self_.reset();
  }

 private:
  absl::Status Begin(const grpc::ByteBuffer& request) {
    record_.AddRequestBytes(request.Length());
    TENSORD_RETURN_IF_ERROR(
        ParseMessage(request, config_.max_message_bytes, request_));
    TENSORD_ASSIGN_OR_RETURN(interval_, IntervalOf(request_));
    is_counted_ = true;
    if (watcher_count_.fetch_add(1, std::memory_order_relaxed) >=
        config_.max_watchers) {
      return TooMany(config_.max_watchers);
    }
    return absl::OkStatus();
  }

  void OnAlarm() {
    {
      absl::MutexLock lock(&mu_);
      is_waiting_ = false;
    }
    if (context_.IsCancelled()) {
      End(absl::CancelledError("the watcher left"));
    } else {
      WriteNext();
    }
  }

  void WriteNext() {
    v1::OpProfile now, message;
    read_(request_, now);
    message = now;
    absl::Status status;
    if (is_begun_) status = Subtract(before_, message);
    is_begun_ = true;
    before_ = std::move(now);
    if (status.ok()) {
      status = SerializeMessage(message, config_.max_message_bytes, bytes_);
    }
    if (status.ok()) {
      StartWrite(&bytes_);
    } else {
      End(status);
    }
  }

  // Once. Nothing touches the call afterwards.
  void End(const absl::Status& status) {
    Finish(record_.End(status, context_));
  }

  const ServerConfig& config_;
  const ReadProfile& read_;
  std::atomic<int64_t>& watcher_count_;
  grpc::CallbackServerContext& context_;
  RequestRecord record_;
  std::shared_ptr<Watch> self_;  // until gRPC is done with it

  v1::WatchOpProfileRequest request_;
  absl::Duration interval_;
  bool is_counted_ = false;
  bool is_begun_ = false;
  v1::OpProfile before_;
  grpc::ByteBuffer bytes_;
  grpc::Alarm alarm_;

  absl::Mutex mu_;
  bool is_waiting_ ABSL_GUARDED_BY(mu_) = false;  // for the alarm
};

}  // namespace

RawService::WriteHandler MakeWatchHandler(const MethodRecord& method,
                                          ReadProfile read) {
  struct Shared {
    ReadProfile read;
    std::atomic<int64_t> watcher_count{0};
  };
  auto shared = std::make_shared<Shared>();
  shared->read = std::move(read);
  return [&method, shared](grpc::CallbackServerContext* context,
                           const grpc::ByteBuffer* request) {
    return Watch::Start(
        std::make_shared<Watch>(method, shared->read, shared->watcher_count,
                                *context),
        *request);
  };
}

}  // namespace tensord
