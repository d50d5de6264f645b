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
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/compiled/bind_node.h"
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

// What the work of one measurement uses, until the lane has passed it.
struct Operands {
  HostTensor source;
  HostTensor weight;
  std::vector<Layout> layouts;
  std::vector<const std::byte*> constants;
  CompiledNode node;
  std::unique_ptr<Storage> workspace, first, second, result;
};

// A lane to measure on, and what its work uses: both stay together until the
// lane is empty, however a measurement ends.
class Probe {
 public:
  Probe(Device& device, std::unique_ptr<Lane> lane,
        const KernelBindingTable& table, WorkerPool* workers,
        const CalibrationLimits& limits)
      : device_(device),
        table_(table),
        workers_(workers),
        limits_(limits),
        lane_(std::move(lane)) {}

  ~Probe() { lane_->Drain(absl::InfiniteFuture()).IgnoreError(); }

  bool is_stuck() const { return is_stuck_; }

  // Nanoseconds of one launch of `op` on two float32 tensors of ones; the
  // second is a weight. Of `burst` launches in a row, each takes its part.
  absl::StatusOr<double> LaunchNs(OpKind op, const Shape& a, const Shape& b,
                                  const Shape& y, int burst) {
    operands_ = std::make_unique<Operands>();
    return Released(MeasureLaunch(op, a, b, y, burst));
  }

  // Nanoseconds until a copy of so many bytes from the host is done.
  absl::StatusOr<double> CopyNs(uint64_t size_bytes) {
    operands_ = std::make_unique<Operands>();
    return Released(MeasureCopy(size_bytes));
  }

 private:
  // Lets the operands go, if the lane is done with them soon.
  absl::StatusOr<double> Released(absl::StatusOr<double> outcome) {
    if (absl::IsDeadlineExceeded(
            lane_->Drain(absl::Now() + limits_.hang_timeout))) {
      is_stuck_ = true;
      return absl::UnavailableError(
          absl::StrCat("it hangs: a lane was busy for ",
                       absl::FormatDuration(limits_.hang_timeout),
                       " after its calibration was given up (--hang-timeout)"));
    }
    operands_.reset();
    return outcome;
  }

  absl::StatusOr<double> MeasureLaunch(OpKind op, const Shape& a,
                                       const Shape& b, const Shape& y,
                                       int burst) {
    Operands& use = *operands_;
    use.source = Ones(a);
    use.weight = Ones(b);
    use.layouts = {Layout::Contiguous(a), Layout::Contiguous(b),
                   Layout::Contiguous(y)};
    use.constants = {nullptr, use.weight.bytes().data()};
    DTypeList dtypes(3, DType::kFloat32);
    TENSORD_ASSIGN_OR_RETURN(
        use.node, CompileNode(op, std::move(dtypes), 2,
                              device_.info().id.backend, OpParams{}, table_,
                              {.layouts = use.layouts,
                               .host_constants = use.constants,
                               .device = &device_.info()}));
    CompiledNode& node = use.node;
    const NodeSite site = SiteOf(node, use.layouts, use.constants);
    LaunchContext context{.lane = lane_.get(), .workers = workers_};
    if (node.entry->workspace_bytes != nullptr) {
      TENSORD_ASSIGN_OR_RETURN(
          use.workspace, device_.Allocate(node.entry->workspace_bytes(site)));
      context.workspace = WholeOf(*use.workspace);
    }
    if (node.entry->prepare != nullptr) {
      TENSORD_ASSIGN_OR_RETURN(node.state, node.entry->prepare(site, device_));
    }
    TENSORD_RETURN_IF_ERROR(ToDevice(use.source, use.first));
    TENSORD_RETURN_IF_ERROR(ToDevice(use.weight, use.second));
    TENSORD_ASSIGN_OR_RETURN(use.result,
                             device_.Allocate(y.element_count() * 4));
    const StorageView inputs[] = {WholeOf(*use.first), WholeOf(*use.second)};
    const StorageView outputs[] = {WholeOf(*use.result)};
    return QuickestNs(burst, [&] {
      return ExecuteCompiledWithWaitHint(context, node, inputs, outputs,
                                         use.layouts, /*will_be_waited=*/false)
          .status();
    });
  }

  absl::StatusOr<double> MeasureCopy(uint64_t size_bytes) {
    Operands& use = *operands_;
    use.source = Ones({static_cast<int64_t>(size_bytes / 4)});
    TENSORD_ASSIGN_OR_RETURN(use.first, device_.Allocate(size_bytes));
    return QuickestNs(1, [&] {
      return lane_->CopyToDevice(use.source.bytes(), WholeOf(*use.first));
    });
  }

  // Both are the operands', since the copy may be under way after an error.
  absl::Status ToDevice(const HostTensor& tensor,
                        std::unique_ptr<Storage>& storage) {
    TENSORD_ASSIGN_OR_RETURN(storage, device_.Allocate(tensor.size_bytes()));
    TENSORD_RETURN_IF_ERROR(
        lane_->CopyToDevice(tensor.bytes(), WholeOf(*storage)));
    return Finish();
  }

  absl::Status Finish() {
    TENSORD_ASSIGN_OR_RETURN(const CompletionHandle done,
                             lane_->RecordCompletion());
    return done.WaitUntil(limits_.deadline);
  }

  absl::StatusOr<double> QuickestNs(int burst,
                                    absl::FunctionRef<absl::Status()> enqueue) {
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
  const KernelBindingTable& table_;
  WorkerPool* const workers_;
  const CalibrationLimits limits_;
  const std::unique_ptr<Lane> lane_;
  std::unique_ptr<Operands> operands_;  // null between measurements
  bool is_stuck_ = false;
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

// A measurement that is far off says more of the moment than of the device.
double Near(double supposed, double measured) {
  return RoundedRate(std::clamp(measured, supposed / kMaxRateFactor,
                                supposed * kMaxRateFactor));
}

absl::StatusOr<DeviceInfo> MeasureRates(DeviceInfo info, Probe& probe) {
  TENSORD_ASSIGN_OR_RETURN(const double overhead_ns,
                           probe.LaunchNs(OpKind::kAdd, {1}, {1}, {1}, kBurst));
  TENSORD_ASSIGN_OR_RETURN(const double flops_per_ns,
                           ProductRate(probe, overhead_ns));
  TENSORD_ASSIGN_OR_RETURN(const double bytes_per_ns,
                           MemoryRate(probe, overhead_ns));
  TENSORD_ASSIGN_OR_RETURN(const double latency_ns, probe.CopyNs(64));
  TENSORD_ASSIGN_OR_RETURN(const double copy_ns, probe.CopyNs(kCopyBytes));
  info.launch_overhead_ns = Near(info.launch_overhead_ns, overhead_ns);
  info.flops_per_ns = Near(info.flops_per_ns, flops_per_ns);
  info.bytes_per_ns = Near(info.bytes_per_ns, bytes_per_ns);
  info.copy_latency_ns = Near(info.copy_latency_ns, latency_ns);
  info.copy_bytes_per_ns = Near(
      info.copy_bytes_per_ns, static_cast<double>(kCopyBytes) /
                                  std::max(copy_ns - latency_ns, copy_ns / 2));
  return info;
}

}  // namespace

double RoundedRate(double rate) {
  return std::exp2(std::round(2 * std::log2(rate)) / 2);
}

Calibration CalibrateDevice(Device& device, const KernelBindingTable& table,
                            WorkerPool* workers,
                            const CalibrationLimits& limits) {
  absl::StatusOr<std::unique_ptr<Lane>> lane = device.CreateLane();
  if (!lane.ok()) return {.info = lane.status(), .in_use = nullptr};
  auto probe =
      std::make_shared<Probe>(device, *std::move(lane), table, workers, limits);
  absl::StatusOr<DeviceInfo> info = MeasureRates(device.info(), *probe);
  if (!probe->is_stuck()) probe.reset();
  return {.info = std::move(info), .in_use = std::move(probe)};
}

}  // namespace tensord
