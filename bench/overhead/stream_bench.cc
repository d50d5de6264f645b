// How many runs a second go over one ExecuteStream, beside as many unary calls
// at once: a graph of one node on the null backend, by one client, in turns of
// a fraction of a second.
//
//   stream_bench ADDRESS [--rounds N] [--round-ms N] [--open N]
//
// The daemon has the option --devices=null:0. One line of JSON for each way;
// the last line has the ratio of the rates.

#include <grpcpp/client_context.h>
#include <grpcpp/impl/codegen/client_callback.h>
#include <unistd.h>

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"
#include "bench/overhead/raw_calls.h"
#include "tensord/v1/execution_service.pb.h"

namespace tensord {
namespace {

using grpc::internal::RpcMethod;

constexpr char kExecuteStream[] = "/tensord.v1.ExecutionService/ExecuteStream";

// So many requests are always open on one stream; each answer sends the next
// request. They are all the same bytes, so that the latency of one is not known
// and only the rate is told.
class StreamRound
    : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StreamRound(grpc::ChannelInterface& channel, const grpc::ByteBuffer& request,
              int64_t open)
      : method_(kExecuteStream, RpcMethod::BIDI_STREAMING),
        request_(request),
        to_write_(open) {
    grpc::internal::ClientCallbackReaderWriterFactory<
        grpc::ByteBuffer, grpc::ByteBuffer>::Create(&channel, method_,
                                                    &context_, this);
  }

  void Run(Clock::duration length, Totals& totals) {
    const Clock::time_point begin = Clock::now();
    end_ = begin + length;
    // Writes are started by the reactions to reads as well, not only by writes.
    AddHold();
    StartRead(&response_);
    StartCall();
    absl::MutexLock lock(&mu_);
    WriteOn();
    mu_.Await(absl::Condition(&is_done_));
    totals.seconds +=
        std::chrono::duration<double>(Clock::now() - begin).count();
    totals.latencies_ns.resize(totals.latencies_ns.size() + answer_count_);
  }

 private:
  void WriteOn() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    if (is_writing_) return;
    if (to_write_ > 0) {
      --to_write_;
      ++open_;
      is_writing_ = true;
      StartWrite(&request_);
    } else if (is_over_ && open_ == 0 && !is_closed_) {
      is_closed_ = true;
      StartWritesDone();
      RemoveHold();
    }
  }

  void OnWriteDone(bool ok) override {
    if (!ok) return;
    absl::MutexLock lock(&mu_);
    is_writing_ = false;
    WriteOn();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return;
    CheckFirst();
    {
      absl::MutexLock lock(&mu_);
      ++answer_count_;
      --open_;
      is_over_ = is_over_ || Clock::now() >= end_;
      if (is_over_) {
        to_write_ = 0;
      } else {
        ++to_write_;
      }
      WriteOn();
    }
    StartRead(&response_);
  }

  // One that only fails would be fast.
  void CheckFirst() {
    if (std::exchange(is_checked_, true)) return;
    v1::ExecuteStreamResponse response;
    grpc::Status status =
        grpc::SerializationTraits<v1::ExecuteStreamResponse>::Deserialize(
            &response_, &response);
    if (!status.ok()) Fail(kExecuteStream, status);
    if (response.has_error()) {
      Fail(kExecuteStream,
           {grpc::StatusCode::UNKNOWN, response.error().message()});
    }
    response_.Clear();
  }

  void OnDone(const grpc::Status& status) override {
    if (!status.ok()) Fail(kExecuteStream, status);
    absl::MutexLock lock(&mu_);
    is_done_ = true;
  }

  const RpcMethod method_;
  const grpc::ByteBuffer& request_;
  grpc::ClientContext context_;
  grpc::ByteBuffer response_;
  Clock::time_point end_;
  bool is_checked_ = false;
  absl::Mutex mu_;
  int64_t to_write_ ABSL_GUARDED_BY(mu_);
  int64_t open_ ABSL_GUARDED_BY(mu_) = 0;
  size_t answer_count_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_writing_ ABSL_GUARDED_BY(mu_) = false;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
  bool is_closed_ ABSL_GUARDED_BY(mu_) = false;
  bool is_done_ ABSL_GUARDED_BY(mu_) = false;
};

struct Options {
  int64_t rounds = 8;
  int64_t round_ms = 250;
  int64_t open = 64;
};

void Run(const std::string& address, const Options& options) {
  constexpr int64_t kElements = 16;
  const auto channel = Connect(address);
  const std::string request =
      NodeRequest(SubmitNode(*channel, "Relu", kElements), kElements);
  v1::ExecuteStreamRequest message;
  message.set_correlation_id("0");
  message.mutable_request()->ParseFromString(request);
  const grpc::ByteBuffer unary_bytes = BufferOf(request);
  const grpc::ByteBuffer stream_bytes = BufferOf(message.SerializeAsString());
  const auto length = std::chrono::milliseconds(options.round_ms);

  Totals warm_up, unary, stream;
  const auto run = [&](Totals& unary_totals, Totals& stream_totals) {
    RunUnary(*channel, kExecute, unary_bytes, static_cast<int>(options.open),
             length, unary_totals);
    StreamRound(*channel, stream_bytes, options.open)
        .Run(length, stream_totals);
  };
  run(warm_up, warm_up);
  for (int64_t i = 0; i < options.rounds; ++i) run(unary, stream);
  Print({{"method", "unary"}, {"open", options.open}, {"rate", unary.rate()}});
  Print(
      {{"method", "stream"}, {"open", options.open}, {"rate", stream.rate()}});
  Print({{"stream_rate_ratio", stream.rate() / unary.rate()}});
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) {
  tensord::Options options;
  const std::vector<std::string> addresses =
      tensord::ParseArguments(argc, argv,
                              {{"--rounds", &options.rounds},
                               {"--round-ms", &options.round_ms},
                               {"--open", &options.open}});
  if (addresses.size() != 1) {
    std::fprintf(stderr,
                 "stream_bench ADDRESS [--rounds N] [--round-ms N] "
                 "[--open N]\n");
    return 2;
  }
  tensord::Run(addresses[0], options);
  std::fflush(stdout);
  _exit(0);
}
