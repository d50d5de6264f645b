// What large tensors cost: Execute of y = Relu(x) on the null backend with so
// many MiB in and out, beside calls of the same bytes that do less: PooledEcho
// copies them once into pooled memory and answers from another pooled buffer,
// Discard answers with nothing. By one client, in turns.
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
  int64_t rounds = 5;
  int64_t round_ms = 1000;
  int64_t open = 2;
  int64_t mib = 1;
};

void Run(const std::string& address, const Options& options) {
  const int64_t elements = options.mib << 18;
  const auto channel = Connect(address);
  const grpc::ByteBuffer request =
      BufferOf(ReluRequest(SubmitRelu(*channel, elements), elements));
  const struct {
    const char* name;
    const char* method;
  } kMethods[] = {{"execute", kExecute},
                  {"pooled_echo", kPooledEcho},
                  {"discard", kDiscard}};
  Totals warm_up, totals[3];
  for (int64_t round = -1; round < options.rounds; ++round) {
    for (int i = 0; i < 3; ++i) {
      RunUnary(*channel, kMethods[i].method, request,
               static_cast<int>(options.open),
               std::chrono::milliseconds(options.round_ms),
               round < 0 ? warm_up : totals[i]);
    }
  }
  for (int i = 0; i < 3; ++i) {
    nlohmann::ordered_json line = {{"mib", options.mib}};
    line.update(
        JsonOf(kMethods[i].name, static_cast<int>(options.open), totals[i]));
    line["mib_per_s"] = totals[i].rate() * static_cast<double>(options.mib);
    Print(line);
  }
  Print({{"mib", options.mib},
         {"pooled_echo_ratio", totals[0].rate() / totals[1].rate()},
         {"upload_ratio", totals[0].rate() / totals[2].rate()}});
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
