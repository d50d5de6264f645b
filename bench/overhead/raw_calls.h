#ifndef TENSORD_BENCH_OVERHEAD_RAW_CALLS_H_
#define TENSORD_BENCH_OVERHEAD_RAW_CALLS_H_

#include <grpcpp/channel.h>
#include <grpcpp/impl/codegen/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"

// What the benchmarks of calls share: requests that are serialised once, so
// that the client's own work is the same for every method that is compared.
namespace tensord {

using Clock = std::chrono::steady_clock;

inline constexpr char kEcho[] = "/tensord.bench.v1.Echo/Echo";
inline constexpr char kPooledEcho[] = "/tensord.bench.v1.Echo/PooledEcho";
inline constexpr char kDiscard[] = "/tensord.bench.v1.Echo/Discard";
inline constexpr char kExecute[] = "/tensord.v1.ExecutionService/Execute";

// Ends the process.
[[noreturn]] void Fail(const std::string& what, const grpc::Status& status);

std::shared_ptr<grpc::Channel> Connect(const std::string& address);

template <typename Request, typename Response>
Response Call(grpc::ChannelInterface& channel, const char* method,
              const Request& request) {
  grpc::ClientContext context;
  Response response;
  const grpc::internal::RpcMethod rpc(method,
                                      grpc::internal::RpcMethod::NORMAL_RPC);
  const grpc::Status status =
      grpc::internal::BlockingUnaryCall<Request, Response>(
          &channel, rpc, &context, request, &response);
  if (!status.ok()) Fail(method, status);
  return response;
}

// Submits y = op(x), x of so many float32s. Its id.
std::string SubmitNode(grpc::ChannelInterface& channel, const std::string& op,
                       int64_t elements);

// A serialised ExecuteRequest for it.
std::string NodeRequest(const std::string& graph_id, int64_t elements);

grpc::ByteBuffer BufferOf(const std::string& bytes);

// The daemon's own count of launches, which shows that every execution went all
// the way.
int64_t LaunchCount(grpc::ChannelInterface& channel);

// The calls of all rounds of one method.
struct Totals {
  std::vector<int64_t> latencies_ns;
  double seconds = 0;

  double rate() const {
    return static_cast<double>(latencies_ns.size()) / seconds;
  }
  double PercentileUs(double p);
};

nlohmann::ordered_json JsonOf(const std::string& method, int concurrency,
                              Totals& totals);

// One line on stdout.
void Print(const nlohmann::ordered_json& line);

// Unary calls of one method, so many at once, for so long; what it took is
// added to `totals`.
void RunUnary(grpc::ChannelInterface& channel, const char* method,
              const grpc::ByteBuffer& request, int concurrency,
              Clock::duration length, Totals& totals);

// The numbers after "--name"s, and what is no option. Ends the process on an
// option that is not among `numbers`, or no number after it.
struct NumberOption {
  const char* name;
  int64_t* value;
};
std::vector<std::string> ParseArguments(
    int argc, char** argv, const std::vector<NumberOption>& numbers);

}  // namespace tensord

#endif  // TENSORD_BENCH_OVERHEAD_RAW_CALLS_H_
