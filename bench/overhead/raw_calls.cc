#include "bench/overhead/raw_calls.h"

#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/impl/codegen/client_callback.h>
#include <grpcpp/security/credentials.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/synchronization/mutex.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/v1/profile_service.pb.h"

namespace tensord {
namespace {

using grpc::internal::RpcMethod;

class Round {
 public:
  Round(grpc::ChannelInterface& channel, const char* method,
        const grpc::ByteBuffer& request, int concurrency)
      : channel_(channel),
        method_(method, RpcMethod::NORMAL_RPC),
        request_(request),
        slots_(static_cast<size_t>(concurrency)) {}

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
  const grpc::ByteBuffer& request_;
  Clock::time_point end_;
  std::vector<Slot> slots_;
  absl::Mutex mu_;
  int open_ = 0;
};

}  // namespace

void Fail(const std::string& what, const grpc::Status& status) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(),
               status.error_message().c_str());
  _exit(1);
}

std::shared_ptr<grpc::Channel> Connect(const std::string& address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(),
                                   arguments);
}

std::string SubmitNode(grpc::ChannelInterface& channel, const std::string& op,
                       int64_t elements) {
  v1::SubmitGraphRequest request;
  v1::Graph& graph = *request.mutable_graph();
  graph.set_opset_version(17);
  v1::ValueInfo& input = *graph.add_inputs();
  input.set_name("x");
  input.set_dtype(v1::DTYPE_FLOAT32);
  input.add_dims()->set_size(elements);
  v1::Node& node = *graph.add_nodes();
  node.set_op(op);
  node.add_inputs("x");
  node.add_outputs("y");
  graph.add_outputs("y");
  return Call<v1::SubmitGraphRequest, v1::SubmitGraphResponse>(
             channel, "/tensord.v1.GraphService/SubmitGraph", request)
      .graph_id();
}

std::string NodeRequest(const std::string& graph_id, int64_t elements) {
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

grpc::ByteBuffer BufferOf(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return grpc::ByteBuffer(&slice, 1);
}

int64_t LaunchCount(grpc::ChannelInterface& channel) {
  const auto profile = Call<v1::GetOpProfileRequest, v1::OpProfile>(
      channel, "/tensord.v1.ProfileService/GetOpProfile", {});
  int64_t launches = 0;
  for (const auto& row : profile.rows()) launches += row.launch_count();
  return launches;
}

double Totals::PercentileUs(double p) {
  if (latencies_ns.empty()) return 0;
  const size_t index = std::min(
      latencies_ns.size() - 1,
      static_cast<size_t>(p * static_cast<double>(latencies_ns.size())));
  std::nth_element(latencies_ns.begin(),
                   latencies_ns.begin() + static_cast<int64_t>(index),
                   latencies_ns.end());
  return static_cast<double>(latencies_ns[index]) / 1e3;
}

nlohmann::ordered_json JsonOf(const std::string& method, int concurrency,
                              Totals& totals) {
  return {{"method", method},
          {"concurrency", concurrency},
          {"p50_us", totals.PercentileUs(0.5)},
          {"p99_us", totals.PercentileUs(0.99)},
          {"rate", totals.rate()},
          {"calls", totals.latencies_ns.size()}};
}

void Print(const nlohmann::ordered_json& line) {
  std::printf("%s\n", line.dump().c_str());
  std::fflush(stdout);
}

void RunUnary(grpc::ChannelInterface& channel, const char* method,
              const grpc::ByteBuffer& request, int concurrency,
              Clock::duration length, Totals& totals) {
  Round(channel, method, request, concurrency).Run(length, totals);
}

std::vector<std::string> ParseArguments(
    int argc, char** argv, const std::vector<NumberOption>& numbers) {
  std::vector<std::string> others;
  for (int i = 1; i < argc; ++i) {
    const absl::string_view argument = argv[i];
    if (!absl::StartsWith(argument, "--")) {
      others.emplace_back(argv[i]);
      continue;
    }
    const auto option = std::find_if(
        numbers.begin(), numbers.end(),
        [&](const NumberOption& it) { return it.name == argument; });
    if (option == numbers.end() || ++i == argc ||
        !absl::SimpleAtoi(argv[i], option->value)) {
      std::fprintf(stderr, "%s: no number after it, or no such option\n",
                   std::string(argument).c_str());
      _exit(2);
    }
  }
  return others;
}

}  // namespace tensord
