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

#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "bench/overhead/raw_calls.h"

namespace tensord {
namespace {

struct Options {
  int64_t rounds = 8;
  int64_t round_ms = 250;
  int64_t elements = 16;  // float32 in and out
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
        round_length_(std::chrono::milliseconds(options.round_ms)),
        channel_(Connect(address)),
        request_(BufferOf(
            NodeRequest(SubmitNode(*channel_, "Relu", options.elements),
                        options.elements))) {}

  Ratios Compare(int concurrency) {
    const auto run = [&](const char* method, Totals& totals) {
      RunUnary(*channel_, method, request_, concurrency, round_length_, totals);
    };
    Totals warm_up, echo, execute;
    run(kEcho, warm_up);
    run(kExecute, warm_up);
    const int64_t launches_before = LaunchCount(*channel_);
    for (int64_t i = 0; i < rounds_; ++i) {
      run(kEcho, echo);
      run(kExecute, execute);
    }
    executions_ += static_cast<int64_t>(execute.latencies_ns.size());
    launches_ += LaunchCount(*channel_) - launches_before;
    PrintMethod("echo", concurrency, echo);
    PrintMethod("execute", concurrency, execute);
    return {execute.PercentileUs(0.5) / echo.PercentileUs(0.5),
            execute.rate() / echo.rate()};
  }

  int64_t executions() const { return executions_; }
  int64_t launches() const { return launches_; }

 private:
  void PrintMethod(const char* method, int concurrency, Totals& totals) const {
    nlohmann::ordered_json line = {
        {"transport", absl::StartsWith(address_, "unix:") ? "unix" : "tcp"}};
    line.update(JsonOf(method, concurrency, totals));
    line["request_bytes"] = request_.Length();
    Print(line);
  }

  const std::string address_;
  const int64_t rounds_;
  const Clock::duration round_length_;
  const std::shared_ptr<grpc::Channel> channel_;
  const grpc::ByteBuffer request_;
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
  Print(last);
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) {
  tensord::Options options;
  const std::vector<std::string> addresses =
      tensord::ParseArguments(argc, argv,
                              {{"--rounds", &options.rounds},
                               {"--round-ms", &options.round_ms},
                               {"--elements", &options.elements}});
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
