// What one launch costs with op_profile off, sampled, full, and not compiled
// in.
//
//   launch_bench --launches N --mode off    runs N launches of one mode, for an
//                                           instruction counter around the
//                                           process
//   launch_bench                            times all modes against each other,
//                                           prints one line of JSON
//
// The node is a Relu of the null backend: its kernel does nothing, so what is
// left is ExecuteCompiled itself. Executions have 100 launches each, as a real
// graph of middle size does; sampling is one execution in 16, the daemon's
// default.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "backends/null/null_backend.h"
#include "engine/compiled/launch.h"
#include "engine/profile/op_profile.h"
#include "nlohmann/json.hpp"

namespace tensord {
namespace {

constexpr int kLaunchesPerExecution = 100;

// A call of its own, as ExecuteCompiledWithWaitHint is: inlined into the loop,
// the two forms would also differ in how the loop's registers are spent.
template <typename Existence>
__attribute__((noinline)) absl::StatusOr<CompletionHandle> Execute(
    const LaunchContext& context, const CompiledNode& node,
    absl::Span<const StorageView> inputs, absl::Span<const StorageView> outputs,
    absl::Span<const Layout> layouts) {
  return internal::ExecuteCompiledAs<Existence>(context, node, inputs, outputs,
                                                layouts, false);
}

class LaunchBench {
 public:
  LaunchBench() : backend_(MakeNullBackend({})) {
    if (!table_.AddBackend(*backend_).ok()) std::abort();
    device_ = *backend_->OpenDevice(0);
    lane_ = *device_->CreateLane();
    x_ = *device_->Allocate(64);
    y_ = *device_->Allocate(64);
    node_ = *CompileNode(OpKind::kRelu, {DType::kFloat32, DType::kFloat32}, 1,
                         BackendId::kNull, NoParams{}, table_);
    node_.site.slot = profile_.SlotFor(node_.op, node_.backend,
                                       node_.entry->name, DType::kFloat32);
    shard_ = profile_.CreateShard(device_->info().id);
  }

  void Configure(op_profile::Mode mode) {
    if (!profile_.Configure({.mode = mode}).ok()) std::abort();
  }

  template <typename Existence>
  __attribute__((noinline)) void Run(int64_t launches) {
    LaunchContext context{.lane = lane_.get()};
    const StorageView input{x_.get(), 0, 64};
    const StorageView output{y_.get(), 0, 64};
    while (launches > 0) {
      const op_profile::ExecutionScope scope(shard_.get());
      context.profile = scope.shard();
      for (int i = 0; i < kLaunchesPerExecution; ++i, --launches) {
        const auto handle = Execute<Existence>(context, node_, {&input, 1},
                                               {&output, 1}, layouts_);
        if (!handle.ok()) std::abort();
      }
    }
  }

  void RunMode(const std::string& mode, int64_t launches) {
    if (mode == "absent") return Run<op_profile::NotCompiledIn>(launches);
    Configure(mode == "off"       ? op_profile::Mode::kOff
              : mode == "sampled" ? op_profile::Mode::kSampled
                                  : op_profile::Mode::kFull);
    Run<op_profile::CompiledIn>(launches);
  }

 private:
  op_profile::OpProfile profile_;
  std::unique_ptr<Backend> backend_;
  KernelBindingTable table_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<const Storage> x_, y_;
  std::unique_ptr<Lane> lane_;
  std::unique_ptr<op_profile::Shard> shard_;
  CompiledNode node_;
  const std::vector<Layout> layouts_{2, Layout::Contiguous(Shape({16}))};
};

// Interleaved rounds, the median of each mode: a noisy machine slows all alike.
nlohmann::json TimeAllModes(LaunchBench& bench) {
  constexpr int kRounds = 21;
  constexpr int64_t kLaunches = 200'000;
  const std::vector<std::string> modes = {"absent", "off", "sampled", "full"};
  const op_profile::TickClock clock = op_profile::TickClock::Get();
  std::vector<std::vector<double>> ns(modes.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t m = 0; m < modes.size(); ++m) {
      const uint64_t start = clock.Now();
      bench.RunMode(modes[m], kLaunches);
      ns[m].push_back(static_cast<double>(clock.ToNs(clock.Now() - start)) /
                      kLaunches);
    }
  }
  nlohmann::json result;
  for (size_t m = 0; m < modes.size(); ++m) {
    std::sort(ns[m].begin(), ns[m].end());
    result["launch_ns_" + modes[m]] = ns[m][kRounds / 2];
  }
  return result;
}

int Main(int argc, char** argv) {
  int64_t launches = 0;
  std::string mode;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--launches") launches = std::atoll(argv[i + 1]);
    if (flag == "--mode") mode = argv[i + 1];
  }
  LaunchBench bench;
  if (launches > 0) {
    bench.RunMode(mode, launches);
    return 0;
  }
  std::printf("%s\n", TimeAllModes(bench).dump().c_str());
  return 0;
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) { return tensord::Main(argc, argv); }
