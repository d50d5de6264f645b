// What a call of Execute costs beside an echo of the same bytes: a graph of one
// node on the null backend against tensord.bench.v1.Echo, on one daemon, by one
// client, in turns of a fraction of a second, so that whatever else the machine
// does falls on both.
//
//   rpc_bench ADDRESS... [--rounds N] [--round-ms N] [--elements N]
//
// The daemon has the options --devices=null:0 --enable-echo-for-benchmarks. One
// line of JSON for each address, concurrency and method; the last line has the
// ratios for the first address, and the daemon's own count of launches, which
// shows that every execution went all the way.

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/client_callback.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/byte_buffer.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "nlohmann/json.hpp"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/v1/profile_service.pb.h"

namespace tensord {
namespace {

using Clock = std::chrono::steady_clock;
using grpc::internal::RpcMethod;

constexpr char kEcho[] = "/tensord.bench.v1.Echo/Echo";
constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";
constexpr int kMaxMessageBytes = 1 << 30;

[[noreturn]] void Fail(const std::string& what, const grpc::Status& status) {
  std::fprintf(stderr, "rpc_bench: %s: %s\n", what.c_str(),
               status.error_message().c_str());
  _exit(1);
}

template <typename Request, typename Response>
Response Call(grpc::ChannelInterface& channel, const char* method,
              const Request& request) {
  grpc::ClientContext context;
  Response response;
  const RpcMethod rpc(method, RpcMethod::NORMAL_RPC);
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall<Request, Response>(
          &channel, rpc, &context, request, &response);
  if (!status.ok()) Fail(method, status);
  return response;
}

std::string SubmitGraph(grpc::ChannelInterface& channel, int elements) {
  v1::SubmitGraphRequest request;
  v1::Graph& graph = *request.mutable_graph();
  graph.set_opset_version(17);
  v1::ValueInfo& input = *graph.add_inputs();
  input.set_name("x");
  input.set_dtype(v1::DTYPE_FLOAT32);
  input.add_dims()->set_size(elements);
  v1::Node& node = *graph.add_nodes();
  node.set_op("Relu");
  node.add_inputs("x");
  node.add_outputs("y");
  graph.add_outputs("y");
  return Call<v1::SubmitGraphRequest, v1::SubmitGraphResponse>(
             channel, "/tensord.v1.GraphService/SubmitGraph", request)
      .graph_id();
}

std::string RequestBytes(const std::string& graph_id, int elements) {
  v1::ExecuteRequest request;
  request.set_graph_id(graph_id);
  v1::ExecuteInput& input = *request.add_inputs();
  input.set_name("x");
  input.mutable_tensor()->set_dtype(v1::DTYPE_FLOAT32);
  input.mutable_tensor()->add_dims(elements);
  input.mutable_tensor()->set_data(
      std::string(4 * static_cast<size_t>(elements), '\1'));
  return request.SerializeAsString();
}

struct Totals {
  std::vector<int64_t> latencies_ns;
  double seconds = 0;

  double rate() const { return latencies_ns.size() / seconds; }
  double PercentileUs(double p) {
    if (latencies_ns.empty()) return 0;
    const size_t index = std::min(latencies_ns.size() - 1,
                                  static_cast<size_t>(p * latencies_ns.size()));
    std::nth_element(latencies_ns.begin(), latencies_ns.begin() + index,
                     latencies_ns.end());
    return latencies_ns[index] / 1e3;
  }
};

// Calls of one method, so many at once, for so long.
class Round {
 public:
  Round(grpc::ChannelInterface& channel, const char* method,
        const grpc::ByteBuffer& request, int concurrency)
      : channel_(channel),
        method_(method, RpcMethod::NORMAL_RPC),
        request_(request),
        slots_(concurrency) {}

  void Run(Clock::duration length, Totals& totals) {
    const Clock::time_point begin = Clock::now();
    end_ = begin + length;
    open_ = static_cast<int>(slots_.size());
    for (Slot& slot : slots_) Start(slot);
    absl::MutexLock lock(&mu_);
    mu_.Await(absl::Condition(
        +[](int* open) { return *open == 0; }, &open_));
    totals.seconds +=
        std::chrono::duration<double>(Clock::now() - begin).count();
    for (Slot& slot : slots_) {
      totals.latencies_ns.insert(totals.latencies_ns.end(),
                                 slot.latencies_ns.begin(),
                                 slot.latencies_ns.end());
      slot.latencies_ns.clear();
    }
  }

 private:
  struct Slot {
    std::optional<grpc::ClientContext> context;
    grpc::ByteBuffer response;
    Clock::time_point start;
    std::vector<int64_t> latencies_ns;
  };

  void Start(Slot& slot) {
    slot.context.emplace();
    slot.response.Clear();
    slot.start = Clock::now();
    grpc::internal::CallbackUnaryCall<grpc::ByteBuffer, grpc::ByteBuffer>(
        &channel_, method_, &*slot.context, &request_, &slot.response,
        [this, &slot](grpc::Status status) { Done(slot, status); });
  }

  void Done(Slot& slot, const grpc::Status& status) {
    if (!status.ok()) Fail(method_.name(), status);
    const Clock::time_point now = Clock::now();
    slot.latencies_ns.push_back((now - slot.start).count());
    if (now < end_) {
      Start(slot);
      return;
    }
    absl::MutexLock lock(&mu_);
    --open_;
  }

  grpc::ChannelInterface& channel_;
  const RpcMethod method_;
  const grpc::ByteBuffer request_;
  Clock::time_point end_;
  std::vector<Slot> slots_;
  absl::Mutex mu_;
  int open_ = 0;
};

int64_t NullLaunches(grpc::ChannelInterface& channel) {
  const auto profile = Call<v1::GetOpProfileRequest, v1::OpProfile>(
      channel, "/tensord.v1.ProfileService/GetOpProfile", {});
  int64_t launches = 0;
  for (const auto& row : profile.rows()) launches += row.launch_count();
  return launches;
}

struct Options {
  int rounds = 8;
  int round_ms = 250;
  int elements = 16;  // float32 in and out
};

struct Ratios {
  double p50 = 0;
  double rate = 0;
};

class Bench {
 public:
  Bench(const std::string& address, const Options& options)
      : address_(address),
        rounds_(options.rounds),
        round_length_(std::chrono::milliseconds(options.round_ms)) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
    channel_ = grpc::CreateCustomChannel(
        address, grpc::InsecureChannelCredentials(), arguments);
    const std::string bytes = RequestBytes(
        SubmitGraph(*channel_, options.elements), options.elements);
    const grpc::Slice slice(bytes);
    request_ = grpc::ByteBuffer(&slice, 1);
  }

  Ratios Compare(int concurrency) {
    Round echo(*channel_, kEcho, request_, concurrency);
    Round execute(*channel_, kExecute, request_, concurrency);
    Totals warm_up, echo_totals, execute_totals;
    echo.Run(round_length_, warm_up);
    execute.Run(round_length_, warm_up);
    const int64_t launches_before = NullLaunches(*channel_);
    for (int i = 0; i < rounds_; ++i) {
      echo.Run(round_length_, echo_totals);
      execute.Run(round_length_, execute_totals);
    }
    executions_ += static_cast<int64_t>(execute_totals.latencies_ns.size());
    launches_ += NullLaunches(*channel_) - launches_before;
    Print("echo", concurrency, echo_totals);
    Print("execute", concurrency, execute_totals);
    return {execute_totals.PercentileUs(0.5) / echo_totals.PercentileUs(0.5),
            execute_totals.rate() / echo_totals.rate()};
  }

  int64_t executions() const { return executions_; }
  int64_t launches() const { return launches_; }

 private:
  void Print(const char* method, int concurrency, Totals& totals) const {
    const nlohmann::ordered_json line = {
        {"transport", absl::StartsWith(address_, "unix:") ? "unix" : "tcp"},
        {"method", method},
        {"concurrency", concurrency},
        {"p50_us", totals.PercentileUs(0.5)},
        {"p99_us", totals.PercentileUs(0.99)},
        {"rate", totals.rate()},
        {"request_bytes", request_.Length()},
        {"calls", totals.latencies_ns.size()}};
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
  }

  const std::string address_;
  const int rounds_;
  const Clock::duration round_length_;
  std::shared_ptr<grpc::Channel> channel_;
  grpc::ByteBuffer request_;
  int64_t executions_ = 0;
  int64_t launches_ = 0;
};

void Run(const std::vector<std::string>& addresses, const Options& options) {
  nlohmann::ordered_json last;
  int64_t executions = 0, launches = 0;
  for (const std::string& address : addresses) {
    Bench bench(address, options);
    for (const int concurrency : {1, 16, 64}) {
      const Ratios ratios = bench.Compare(concurrency);
      if (address != addresses.front()) continue;
      const std::string suffix = "_c" + std::to_string(concurrency);
      last["p50_ratio" + suffix] = ratios.p50;
      last["rate_ratio" + suffix] = ratios.rate;
    }
    executions += bench.executions();
    launches += bench.launches();
  }
  last["executions"] = executions;
  last["null_launches"] = launches;
  std::printf("%s\n", last.dump().c_str());
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) {
  std::vector<std::string> addresses;
  tensord::Options options;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    int* number = argument == "--rounds"     ? &options.rounds
                  : argument == "--round-ms" ? &options.round_ms
                  : argument == "--elements" ? &options.elements
                                             : nullptr;
    if (number == nullptr) {
      addresses.emplace_back(argv[i]);
    } else if (++i == argc || !absl::SimpleAtoi(argv[i], number)) {
      std::fprintf(stderr, "rpc_bench: %s needs a number\n", argv[i - 1]);
      return 2;
    }
  }
  if (addresses.empty()) {
    std::fprintf(stderr,
                 "rpc_bench ADDRESS... [--rounds N] [--round-ms N] "
                 "[--elements N]\n");
    return 2;
  }
  tensord::Run(addresses, options);
  // gRPC may take ten seconds to join its threads.
  std::fflush(stdout);
  _exit(0);
}
