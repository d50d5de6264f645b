// Times kernels of the CPU backend by themselves: each case on every kernel
// that accepts it, siblings side by side.
//
//   kernel_bench [--filter TEXT] [--kernel TEXT] [--skip TEXT] [--threads N]
//                [--seconds S]
//
// --filter and --kernel choose cases and kernels by a part of their names,
// --skip leaves out kernels ("_any" and "_direct" are slow).
//
// One line of JSON for each case and kernel. `wall_us` is the median over the
// runs that fit the time, `cpu_us` the median processor time of the calling
// thread, which is all there is with one thread: on a busy machine it is the
// steadier of the two. Inputs are random, never zeros; constants are known to
// the kernel ahead, as weights are.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "bench/kernels/cases.h"
#include "nlohmann/json.hpp"

namespace tensord {
namespace {

struct Options {
  std::string filter;
  std::string kernel;
  std::string skip;
  int threads = 1;
  double seconds = 0.3;
};

double Now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2,
                   values.end());
  return values[values.size() / 2];
}

// A case's operands on a device, filled.
class Rig {
 public:
  Rig(const KernelCase& test, Device& device, WorkerPool& workers)
      : test_(test), device_(device), workers_(workers) {
    std::mt19937 random(7);
    for (const auto& operand : test.inputs) Add(operand, &random);
    for (const auto& operand : test.outputs) Add(operand, nullptr);
  }

  NodeSite site() const {
    return {.op = test_.op,
            .dtypes = dtypes_,
            .input_count = static_cast<int>(test_.inputs.size()),
            .layouts = layouts_,
            .host_constants = constants_,
            .params = test_.params};
  }

  nlohmann::json Measure(const KernelEntry& kernel, double seconds) {
    nlohmann::json line = {{"case", test_.name}, {"kernel", kernel.name}};
    std::unique_ptr<KernelState> state;
    if (kernel.prepare != nullptr) {
      const double start = Now(CLOCK_THREAD_CPUTIME_ID);
      auto made = kernel.prepare(site(), device_);
      if (!made.ok()) return {{"error", made.status().ToString()}};
      state = *std::move(made);
      line["prepare_us"] = Now(CLOCK_THREAD_CPUTIME_ID) - start;
    }
    std::unique_ptr<Storage> workspace;
    LaunchContext context;
    context.workers = &workers_;
    if (kernel.workspace_bytes != nullptr) {
      const uint64_t bytes = kernel.workspace_bytes(site());
      workspace = device_.Allocate(bytes).value();
      context.workspace = {workspace.get(), 0, bytes};
      line["workspace_bytes"] = bytes;
    }
    const auto input_count = test_.inputs.size();
    const KernelCall call{context,
                          absl::MakeSpan(views_).first(input_count),
                          absl::MakeSpan(views_).subspan(input_count),
                          layouts_,
                          test_.params,
                          state.get()};
    std::vector<double> wall, cpu;
    double spent = 0;
    while (wall.size() < 5 || (spent < seconds * 1e6 && wall.size() < 2000)) {
      const double wall_start = Now(CLOCK_MONOTONIC);
      const double cpu_start = Now(CLOCK_THREAD_CPUTIME_ID);
      if (absl::Status status = kernel.run(call); !status.ok()) {
        return {{"error", status.ToString()}};
      }
      cpu.push_back(Now(CLOCK_THREAD_CPUTIME_ID) - cpu_start);
      wall.push_back(Now(CLOCK_MONOTONIC) - wall_start);
      spent += wall.back();
    }
    line["wall_us"] = Median(wall);
    line["cpu_us"] = Median(cpu);
    line["runs"] = wall.size();
    if (kernel.cost != nullptr) {
      const KernelCost cost = kernel.cost(site());
      line["gflops"] = cost.flops / Median(cpu) * 1e-3;
      line["gbytes"] = cost.bytes / Median(cpu) * 1e-3;
    }
    return line;
  }

 private:
  void Add(const KernelCase::Operand& operand, std::mt19937* random) {
    dtypes_.push_back(operand.dtype);
    if (operand.dtype == DType::kUndefined) {
      layouts_.emplace_back();
      constants_.push_back(nullptr);
      views_.emplace_back();
      return;
    }
    layouts_.push_back(Layout::Contiguous(operand.shape));
    const int64_t count = operand.shape.element_count();
    const uint64_t bytes = ByteSize(operand.dtype, count);
    storages_.push_back(device_.Allocate(bytes).value());
    std::byte* address = storages_.back()->address();
    views_.push_back({storages_.back().get(), 0, bytes});
    if (random != nullptr) {
      Fill(operand, count, address, *random);
      constants_.push_back(operand.is_constant ? address : nullptr);
    }
  }

  static void Fill(const KernelCase::Operand& operand, int64_t count,
                   std::byte* address, std::mt19937& random) {
    if (operand.dtype == DType::kFloat32) {
      std::uniform_real_distribution<float> uniform(operand.low, operand.high);
      auto* elements = reinterpret_cast<float*>(address);
      for (int64_t i = 0; i < count; ++i) elements[i] = uniform(random);
      return;
    }
    const uint64_t bytes = ByteSize(operand.dtype, count);
    for (uint64_t i = 0; i < bytes; ++i) {
      address[i] = static_cast<std::byte>(random());
    }
  }

  const KernelCase& test_;
  Device& device_;
  WorkerPool& workers_;
  std::vector<DType> dtypes_;
  std::vector<Layout> layouts_;
  std::vector<const std::byte*> constants_;
  std::vector<StorageView> views_;
  std::vector<std::unique_ptr<Storage>> storages_;
};

bool Takes(const KernelEntry& kernel, const NodeSite& site) {
  const absl::Span<const DType> dtypes = site.dtypes;
  if (kernel.op != site.op ||
      !kernel.dtypes.Matches(dtypes.first(site.input_count),
                             dtypes.subspan(site.input_count))) {
    return false;
  }
  const auto* conv = std::get_if<ConvParams>(&site.params);
  const auto* pool = std::get_if<PoolParams>(&site.params);
  if ((conv != nullptr && conv->channels_last) ||
      (pool != nullptr && pool->channels_last)) {
    if (!kernel.caps.takes_channels_last) return false;
  }
  if (site.params.epilogue != nullptr && !kernel.caps.takes_epilogue) {
    return false;
  }
  return kernel.accepts == nullptr || kernel.accepts(site).ok();
}

void Main(const Options& options) {
  HostWorkerPool workers(options.threads);
  auto backend = MakeCpuBackend(HostServices{.workers = &workers});
  auto device = backend->OpenDevice(0).value();
  for (const KernelCase& test : KernelCases()) {
    if (!absl::StrContains(test.name, options.filter)) continue;
    Rig rig(test, *device, workers);
    for (const KernelEntry& kernel : backend->kernels()) {
      if (!absl::StrContains(kernel.name, options.kernel)) continue;
      if (!options.skip.empty() &&
          absl::StrContains(kernel.name, options.skip)) {
        continue;
      }
      if (!Takes(kernel, rig.site())) continue;
      nlohmann::json line = rig.Measure(kernel, options.seconds);
      line["threads"] = options.threads;
      std::printf("%s\n", line.dump().c_str());
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) {
  tensord::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const absl::string_view name = argv[i];
    if (name == "--filter") options.filter = argv[i + 1];
    if (name == "--kernel") options.kernel = argv[i + 1];
    if (name == "--skip") options.skip = argv[i + 1];
    if (name == "--threads") options.threads = std::atoi(argv[i + 1]);
    if (name == "--seconds") options.seconds = std::atof(argv[i + 1]);
  }
  tensord::Main(options);
}
