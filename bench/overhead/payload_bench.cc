// What large tensors cost on the null backend, beside calls of the same bytes
// that do less. In and out: y = Relu(x), beside PooledEcho, which copies once
// into pooled memory and answers from another pooled buffer. In alone: y =
// ReduceMax(x), one element, beside Discard, which answers with nothing. By one
// client, in turns.
//
//   payload_bench ADDRESS [--rounds N] [--round-ms N] [--open N] [--mib N]
//
// The daemon has the options --devices=null:0 --enable-echo-for-benchmarks and
// a --max-message-bytes above the payload. One line of JSON for each method;
// the last line has the ratios of the rates.

#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "bench/overhead/raw_calls.h"

namespace tensord {
namespace {

struct Options {
  int64_t rounds = 8;
  int64_t round_ms = 500;
  int64_t open = 2;
  int64_t mib = 1;
};

void Run(const std::string& address, const Options& options) {
  const int64_t elements = options.mib << 18;
  const auto channel = Connect(address);
  const auto request = [&](const char* op) {
    return BufferOf(NodeRequest(SubmitNode(*channel, op, elements), elements));
  };
  const grpc::ByteBuffer both_ways = request("Relu");
  const grpc::ByteBuffer in_only = request("ReduceMax");
  struct Method {
    const char* name;
    const char* method;
    const grpc::ByteBuffer& request;
    Totals totals = {};
  };
  Method methods[] = {{"execute", kExecute, both_ways},
                      {"pooled_echo", kPooledEcho, both_ways},
                      {"execute_in", kExecute, in_only},
                      {"discard", kDiscard, in_only}};
  Totals warm_up;
  for (int64_t round = -1; round < options.rounds; ++round) {
    for (Method& it : methods) {
      RunUnary(*channel, it.method, it.request, static_cast<int>(options.open),
               std::chrono::milliseconds(options.round_ms),
               round < 0 ? warm_up : it.totals);
    }
  }
  for (Method& it : methods) {
    nlohmann::ordered_json line = {{"mib", options.mib}};
    line.update(JsonOf(it.name, static_cast<int>(options.open), it.totals));
    line["mib_per_s"] = it.totals.rate() * static_cast<double>(options.mib);
    Print(line);
  }
  const auto rate = [&](size_t i) { return methods[i].totals.rate(); };
  Print({{"mib", options.mib},
         {"pooled_echo_ratio", rate(0) / rate(1)},
         {"upload_ratio", rate(2) / rate(3)},
         {"both_ways_to_upload_ratio", rate(0) / rate(3)},
         {"echo_to_upload_ratio", rate(1) / rate(3)}});
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) {
  tensord::Options options;
  const std::vector<std::string> addresses =
      tensord::ParseArguments(argc, argv,
                              {{"--rounds", &options.rounds},
                               {"--round-ms", &options.round_ms},
                               {"--open", &options.open},
                               {"--mib", &options.mib}});
  if (addresses.size() != 1) {
    std::fprintf(stderr,
                 "payload_bench ADDRESS [--rounds N] [--round-ms N] "
                 "[--open N] [--mib N]\n");
    return 2;
  }
  tensord::Run(addresses[0], options);
  std::fflush(stdout);
  _exit(0);
}
