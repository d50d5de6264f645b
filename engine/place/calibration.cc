#include "engine/place/calibration.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "engine/compiled/compiled_node.h"
#include "engine/graph/host_tensor.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// One measurement: at least so many tries, and more while they are short.
constexpr int kMinTries = 3;
constexpr int kMaxTries = 50;
constexpr double kTryNs = 2e6;

// Launches of a try when one is too short for the clock.
constexpr int kBurst = 64;

// A product is grown until it takes so long...
constexpr double kProductNs = 1e6;
constexpr int64_t kFirstEdge = 256;
constexpr int64_t kLastEdge = 4096;
// ... and a sum until it takes so many times the overhead of its launch.
constexpr double kOverheads = 16;
constexpr int64_t kFirstElements = int64_t{1} << 18;
constexpr int64_t kLastElements = int64_t{1} << 24;

constexpr uint64_t kCopyBytes = uint64_t{1} << 20;

double NowNs() {
  return static_cast<double>(
      std::chrono::steady_clock::now().time_since_epoch().count());
}

HostTensor Ones(const Shape& shape) {
  return HostTensor::Make(
      DType::kFloat32, shape, [&](absl::Span<std::byte> bytes) {
        const float one = 1;
        for (size_t at = 0; at < bytes.size(); at += sizeof(one)) {
          std::memcpy(bytes.data() + at, &one, sizeof(one));
        }
      });
}

// A lane to measure on.
class Probe {
 public:
  Probe(Device& device, std::unique_ptr<Lane> lane,
        const KernelBindingTable& table, WorkerPool* workers,
        absl::Time deadline)
      : device_(device),
        lane_(std::move(lane)),
        table_(table),
        workers_(workers),
        deadline_(deadline) {}

  // Nanoseconds of one launch of `op` on two float32 tensors of ones; the
  // second is a weight. Of `burst` launches in a row, each takes its part.
  absl::StatusOr<double> LaunchNs(OpKind op, const Shape& a, const Shape& b,
                                  const Shape& y, int burst) {
    const HostTensor weight = Ones(b);
    const std::vector<Layout> layouts = {
        Layout::Contiguous(a), Layout::Contiguous(b), Layout::Contiguous(y)};
    const std::byte* const constants[] = {nullptr, weight.bytes().data()};
    DTypeList dtypes(3, DType::kFloat32);
    TENSORD_ASSIGN_OR_RETURN(
        CompiledNode node,
        CompileNode(op, std::move(dtypes), 2, device_.info().id.backend,
                    OpParams{}, table_,
                    {.layouts = layouts,
                     .host_constants = constants,
                     .device = &device_.info()}));
    const NodeSite site{.op = op,
                        .dtypes = node.dtypes,
                        .input_count = 2,
                        .layouts = layouts,
                        .host_constants = constants,
                        .params = node.params};
    LaunchContext context{.lane = lane_.get(), .workers = workers_};
    std::unique_ptr<Storage> workspace;
    if (node.entry->workspace_bytes != nullptr) {
      TENSORD_ASSIGN_OR_RETURN(
          workspace, device_.Allocate(node.entry->workspace_bytes(site)));
      context.workspace = WholeOf(*workspace);
    }
    if (node.entry->prepare != nullptr) {
      TENSORD_ASSIGN_OR_RETURN(node.state, node.entry->prepare(site, device_));
    }
    TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> first,
                             ToDevice(Ones(a)));
    TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> second,
                             ToDevice(weight));
    TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> result,
                             device_.Allocate(y.element_count() * 4));
    const StorageView inputs[] = {WholeOf(*first), WholeOf(*second)};
    const StorageView outputs[] = {WholeOf(*result)};
    return QuickestNs(burst, [&] {
      return ExecuteCompiledWithWaitHint(context, node, inputs, outputs,
                                         layouts, /*will_be_waited=*/false)
          .status();
    });
  }

  // Nanoseconds until a copy of so many bytes from the host is done.
  absl::StatusOr<double> CopyNs(uint64_t size_bytes) {
    const HostTensor source = Ones({static_cast<int64_t>(size_bytes / 4)});
    TENSORD_ASSIGN_OR_RETURN(const std::unique_ptr<Storage> target,
                             device_.Allocate(size_bytes));
    return QuickestNs(1, [&] {
      return lane_->CopyToDevice(source.bytes(), WholeOf(*target));
    });
  }

 private:
  static StorageView WholeOf(const Storage& storage) {
    return {&storage, 0, storage.size_bytes()};
  }

  absl::StatusOr<std::unique_ptr<Storage>> ToDevice(const HostTensor& tensor) {
    TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Storage> storage,
                             device_.Allocate(tensor.size_bytes()));
    TENSORD_RETURN_IF_ERROR(
        lane_->CopyToDevice(tensor.bytes(), WholeOf(*storage)));
    TENSORD_RETURN_IF_ERROR(Finish());
    return storage;
  }

  absl::Status Finish() {
    TENSORD_ASSIGN_OR_RETURN(const CompletionHandle done,
                             lane_->RecordCompletion());
    return done.WaitUntil(deadline_);
  }

  absl::StatusOr<double> QuickestNs(int burst,
                                    absl::FunctionRef<absl::Status()> enqueue) {
    absl::StatusOr<double> quickest = MeasureTries(burst, enqueue);
    // What is in flight still uses the caller's memory.
    if (!quickest.ok()) lane_->Drain(absl::InfiniteFuture()).IgnoreError();
    return quickest;
  }

  absl::StatusOr<double> MeasureTries(
      int burst, absl::FunctionRef<absl::Status()> enqueue) {
    // Untouched pages, cold caches.
    TENSORD_RETURN_IF_ERROR(enqueue());
    TENSORD_RETURN_IF_ERROR(Finish());
    double quickest = std::numeric_limits<double>::infinity();
    const double begin = NowNs();
    for (int i = 0; i < kMaxTries; ++i) {
      const double start = NowNs();
      if (i >= kMinTries && start - begin > kTryNs) break;
      for (int k = 0; k < burst; ++k) TENSORD_RETURN_IF_ERROR(enqueue());
      TENSORD_RETURN_IF_ERROR(Finish());
      quickest = std::min(quickest, (NowNs() - start) / burst);
    }
    return std::max(quickest, 1.0);
  }

  Device& device_;
  const std::unique_ptr<Lane> lane_;
  const KernelBindingTable& table_;
  WorkerPool* const workers_;
  const absl::Time deadline_;
};

// Operations a nanosecond of a product that is large enough.
absl::StatusOr<double> ProductRate(Probe& probe, double overhead_ns) {
  for (int64_t edge = kFirstEdge;; edge *= 2) {
    const Shape square = {edge, edge};
    TENSORD_ASSIGN_OR_RETURN(
        const double ns,
        probe.LaunchNs(OpKind::kMatMul, square, square, square, 1));
    if (ns < kProductNs && edge < kLastEdge) continue;
    return 2.0 * static_cast<double>(edge * edge * edge) /
           std::max(ns - overhead_ns, ns / 2);
  }
}

// Bytes a nanosecond of a sum that is large enough, reads and writes together.
absl::StatusOr<double> MemoryRate(Probe& probe, double overhead_ns) {
  for (int64_t elements = kFirstElements;; elements *= 4) {
    const Shape row = {elements};
    TENSORD_ASSIGN_OR_RETURN(const double ns,
                             probe.LaunchNs(OpKind::kAdd, row, row, row, 1));
    if (ns < kOverheads * overhead_ns && elements < kLastElements) continue;
    return 3.0 * sizeof(float) * static_cast<double>(elements) /
           std::max(ns - overhead_ns, ns / 2);
  }
}

}  // namespace

double RoundedRate(double rate) {
  return std::exp2(std::round(2 * std::log2(rate)) / 2);
}

absl::StatusOr<DeviceInfo> CalibrateDevice(Device& device,
                                           const KernelBindingTable& table,
                                           WorkerPool* workers,
                                           absl::Time deadline) {
  DeviceInfo info = device.info();
  TENSORD_ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, device.CreateLane());
  Probe probe(device, std::move(lane), table, workers, deadline);
  TENSORD_ASSIGN_OR_RETURN(const double overhead_ns,
                           probe.LaunchNs(OpKind::kAdd, {1}, {1}, {1}, kBurst));
  TENSORD_ASSIGN_OR_RETURN(const double flops_per_ns,
                           ProductRate(probe, overhead_ns));
  TENSORD_ASSIGN_OR_RETURN(const double bytes_per_ns,
                           MemoryRate(probe, overhead_ns));
  TENSORD_ASSIGN_OR_RETURN(const double latency_ns, probe.CopyNs(64));
  TENSORD_ASSIGN_OR_RETURN(const double copy_ns, probe.CopyNs(kCopyBytes));
  info.launch_overhead_ns = RoundedRate(overhead_ns);
  info.flops_per_ns = RoundedRate(flops_per_ns);
  info.bytes_per_ns = RoundedRate(bytes_per_ns);
  info.copy_latency_ns = RoundedRate(latency_ns);
  info.copy_bytes_per_ns =
      RoundedRate(static_cast<double>(kCopyBytes) /
                  std::max(copy_ns - latency_ns, copy_ns / 2));
  return info;
}

}  // namespace tensord
