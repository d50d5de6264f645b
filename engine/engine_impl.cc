#include "engine/engine_impl.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/infer/input_shapes.h"
#include "engine/passes/device_evaluator.h"
#include "engine/passes/shared_evaluator.h"
#include "engine/place/calibration.h"

namespace tensord {
namespace {

// A device that takes longer than this has trouble, and can do without.
constexpr absl::Duration kCalibrationLimit = absl::Seconds(5);

PoolOptions PoolOptionsFrom(const EngineOptions& options) {
  return {.lanes_per_device = options.lanes_per_device,
          .max_queue_length = options.max_queue_length,
          .max_queued_bytes = options.max_queued_bytes,
          .max_queue_time = options.max_queue_time,
          .max_execution_time = options.max_execution_time,
          .hang_timeout = options.hang_timeout,
          .probe_interval = options.probe_interval,
          .max_stall_time = options.max_stall_time,
          .inline_limit = options.inline_limit,
          .records_programs = options.programs};
}

Backend* FindBackend(absl::Span<Backend* const> backends, BackendId id) {
  for (Backend* backend : backends) {
    if (backend->id() == id) return backend;
  }
  return nullptr;
}

bool CanEvaluate(const DeviceInfo& info) {
  return info.is_synchronous && info.is_host_addressable && info.computes;
}

}  // namespace

EngineImpl::EngineImpl(EngineOptions options,
                       std::unique_ptr<KernelBindingTable> table,
                       op_profile::PhaseProfile* phases)
    : options_(std::move(options)),
      table_(std::move(table)),
      buffers_(options_.max_idle_buffer_bytes),
      open_(phases),
      waiters_(PoolOptionsFrom(options_), open_, watch_),
      compile_threads_(options_.compile_threads,
                       options_.max_queued_compilations) {}

absl::Status EngineImpl::Open(std::vector<std::unique_ptr<Device>> devices,
                              op_profile::OpProfile& profile,
                              const HostServices& services,
                              absl::Span<Backend* const> backends) {
  TENSORD_ASSIGN_OR_RETURN(
      devices_,
      DevicePool::Create(std::move(devices), PoolOptionsFrom(options_),
                         PoolServices{.buffers = &buffers_,
                                      .open = &open_,
                                      .watch = &watch_,
                                      .profile = &profile,
                                      .host = services,
                                      .reroute = [this](Execution& execution) {
                                        dispatcher_->Reroute(execution);
                                      }}));
  UsePinnedBuffers();
  if (options_.calibrate_devices) Calibrate(services);
  TENSORD_RETURN_IF_ERROR(MakeEvaluator(backends, services.workers));
  MakeHostCompanion(backends);
  const HostCompanion* host = host_.device == nullptr ? nullptr : &host_;
  compiler_ = std::make_unique<CompileService>(
      CompilerEnvironment{
          .table = table_.get(),
          .profile = &profile,
          .measured = options_.tuning.is_on ? &measured_ : nullptr,
          .evaluator = evaluator_.get(),
          .rates = &rates_,
          .host = host,
          .limits = options_.limits,
          .max_peak_bytes = options_.max_peak_bytes,
          .max_execution_time = options_.max_execution_time},
      options_.pipelined_compile, compile_threads_, *devices_);
  if (options_.tuning.is_on) {
    tuner_ = std::make_unique<Tuner>(
        options_.tuning,
        Tuner::Parts{*table_, *devices_, *compiler_, measured_, services});
    tuner_->Start();
  }
  loader_ = std::make_unique<GraphLoader>(
      LoaderParts{options_, *table_, evaluator_.get(), host, *devices_,
                  compile_threads_, *compiler_});
  dispatcher_ = std::make_unique<Dispatcher>(options_.limits, open_, waiters_,
                                             *compiler_, *devices_);
  return absl::OkStatus();
}

// Everything open is answered before anything is taken down: what waits is
// refused, what runs is waited for.
EngineImpl::~EngineImpl() {
  if (dispatcher_ != nullptr) {
    StopAccepting();
    waiters_.Close();
    devices_->Close();
    if (tuner_ != nullptr) tuner_->Stop();
    compile_threads_.Close();
    compile_threads_.Join();
    devices_->Join();
    AwaitIdle(absl::InfiniteFuture());
  }
  buffers_.UseDevice(nullptr);
  watch_.Stop();
}

void EngineImpl::Calibrate(const HostServices& services) {
  const absl::Duration limit =
      std::min(kCalibrationLimit, options_.hang_timeout);
  for (const auto& device : devices_->devices()) {
    if (!device->info().computes) continue;
    const absl::Time start = absl::Now();
    const std::string name = device->info().id.ToString();
    Calibration calibration = CalibrateDevice(
        device->device(), *table_, services.workers,
        {.deadline = start + limit, .hang_timeout = options_.hang_timeout});
    absl::StatusOr<DeviceInfo>& info = calibration.info;
    if (info.ok() && services.logger != nullptr) {
      services.logger->Log(
          LogSeverity::kInfo, "device calibrated",
          {{"device", name},
           {"flops_per_ns", absl::StrCat(info->flops_per_ns)},
           {"bytes_per_ns", absl::StrCat(info->bytes_per_ns)},
           {"launch_overhead_ns", absl::StrCat(info->launch_overhead_ns)},
           {"copy_bytes_per_ns", absl::StrCat(info->copy_bytes_per_ns)},
           {"copy_latency_ns", absl::StrCat(info->copy_latency_ns)},
           {"took", absl::FormatDuration(absl::Now() - start)}});
    } else if (services.logger != nullptr) {
      services.logger->Log(
          LogSeverity::kWarning, "device not calibrated",
          {{"device", name}, {"reason", std::string(info.status().message())}});
    }
    if (calibration.in_use != nullptr) {
      in_use_.push_back(std::move(calibration.in_use));
      device->Lose(info.status());
    }
    if (info.ok()) rates_.Set(*std::move(info));
  }
}

// A device of the pool if one fits, on a lane of its own; else one of a backend
// that the pool has no device of.
absl::Status EngineImpl::MakeEvaluator(absl::Span<Backend* const> backends,
                                       WorkerPool* workers) {
  Device* device = nullptr;
  for (const auto& pooled : devices_->devices()) {
    if (device == nullptr && CanEvaluate(pooled->info())) {
      device = &pooled->device();
    }
  }
  for (Backend* backend : backends) {
    if (device != nullptr) break;
    if (devices_->HasBackend(backend->id())) continue;
    absl::StatusOr<std::unique_ptr<Device>> opened = backend->OpenDevice(0);
    if (!opened.ok() || !CanEvaluate((*opened)->info())) continue;
    evaluator_device_ = *std::move(opened);
    device = evaluator_device_.get();
  }
  if (device == nullptr) return absl::OkStatus();
  const Backend* backend = FindBackend(backends, device->info().id.backend);
  TENSORD_ASSIGN_OR_RETURN(
      std::unique_ptr<DeviceEvaluator> evaluator,
      DeviceEvaluator::Create(*device, backend->kernels(), workers));
  evaluator_ = std::make_unique<SharedEvaluator>(std::move(evaluator));
  return absl::OkStatus();
}

void EngineImpl::UsePinnedBuffers() {
  for (const auto& device : devices_->devices()) {
    const DeviceInfo& info = device->info();
    if (info.is_synchronous || info.is_host_addressable) continue;
    return buffers_.UseDevice(&device->device());
  }
}

void EngineImpl::MakeHostCompanion(absl::Span<Backend* const> backends) {
  const auto& pooled = devices_->devices();
  if (std::none_of(pooled.begin(), pooled.end(), [](const auto& device) {
        return HostCompanion::Helps(device->info());
      })) {
    return;
  }
  for (Backend* backend : backends) {
    // Opening a device may be costly: the pool's own tell what others are like.
    if (std::any_of(pooled.begin(), pooled.end(), [&](const auto& device) {
          return device->info().id.backend == backend->id() &&
                 !HostCompanion::CanBe(device->info());
        })) {
      continue;
    }
    absl::StatusOr<std::unique_ptr<Device>> opened = backend->OpenDevice(0);
    if (!opened.ok() || !HostCompanion::CanBe((*opened)->info())) continue;
    host_device_ = *std::move(opened);
    host_weights_ = std::make_unique<WeightStore>(*host_device_);
    host_ = {host_device_.get(), host_weights_.get()};
    return;
  }
}

void EngineImpl::ExplainGraph(
    std::shared_ptr<const LoadedGraph> graph, std::vector<Shape> input_shapes,
    DeviceWish wish,
    absl::AnyInvocable<void(absl::StatusOr<Explanation>)> done) {
  absl::Status status =
      CheckInputShapes(*graph->graph(), input_shapes, options_.limits);
  absl::StatusOr<PooledDevice*> chosen =
      devices_->Choose(graph->capable(), wish);
  status.Update(chosen.status());
  if (!status.ok()) return done(std::move(status));
  compiler_->Compile(
      std::move(graph), std::move(input_shapes), **chosen,
      [done = std::move(done)](
          const absl::StatusOr<CompileService::Compiled>& compiled) mutable {
        if (!compiled.ok()) return done(compiled.status());
        done((*compiled)->explanation);
      },
      /*first_run=*/nullptr, /*estimates_devices=*/!wish.device.has_value());
}

std::vector<DeviceStatus> EngineImpl::Devices() const {
  std::vector<DeviceStatus> statuses;
  for (const auto& device : devices_->devices()) {
    const PooledDevice::Counts counts = device->counts();
    statuses.push_back(
        {.info = rates_.Of(device->device()),
         .health = device->health(),
         .is_draining = device->is_draining(),
         .lane_count = device->lane_count(),
         .in_flight = counts.in_flight,
         .queue_depth = counts.queue_depth,
         .queued_bytes = counts.queued_bytes,
         .allocated_bytes = device->device().allocated_bytes(),
         .weight_bytes = compiler_->weight_bytes(device->info().id),
         .uploaded_bytes = device->uploaded_bytes() +
                           compiler_->uploaded_weight_bytes(device->info().id),
         .downloaded_bytes = device->downloaded_bytes(),
         .completed = counts.completed,
         .failed = counts.failed,
         .faults = counts.faults,
         .last_answer = counts.last_answer,
         .is_stalled = counts.is_stalled});
  }
  return statuses;
}

absl::Status EngineImpl::SetDraining(DeviceId device, bool is_draining) {
  PooledDevice* pooled = devices_->Find(device);
  if (pooled == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no device ", device.ToString(), " is in the pool"));
  }
  pooled->SetDraining(is_draining);
  return absl::OkStatus();
}

GraphCacheStats EngineImpl::CacheStats() const {
  const CompiledCache::Stats compiled = compiler_->stats();
  GraphStore& store = loader_->store();
  return {.hits = compiled.hits,
          .misses = compiled.misses,
          .evictions = compiled.evictions,
          .bytes = compiled.bytes + store.bytes(),
          .graphs = store.count(),
          .compiled_graphs = compiled.count};
}

}  // namespace tensord
