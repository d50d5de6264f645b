#include "tests/support/fake_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "backends/api/copy_check.h"

namespace tensord {
namespace {

constexpr int kPoison = 0xDD;
constexpr uint64_t kGraveyardBytes = uint64_t{64} << 20;

uint64_t SerialOf(StorageView view) {
  return static_cast<const FakeStorage*>(view.storage)->serial();
}

DeviceInfo MakeInfo(DeviceId id, const FakeOptions& options) {
  DeviceInfo info;
  info.id = id;
  info.description = "fake device for tests";
  info.uuid = absl::StrCat("fake-", id.ToString());
  info.is_synchronous = false;
  info.is_host_addressable = options.is_host_addressable;
  info.has_timestamps = true;
  info.records_programs = options.records_programs;
  info.memory_limit_bytes = options.memory_limit_bytes;
  info.max_lanes = options.max_lanes;
  info.flops_per_ns = 1000;
  info.bytes_per_ns = 100;
  info.launch_overhead_ns = 1000;
  return info;
}

}  // namespace

bool FakeDevice::TryOpen(FakeControl& control, DeviceId id) {
  return control.Open(id.ToString());
}

FakeDevice::FakeDevice(DeviceId id, const FakeOptions& options,
                       FakeControl& control)
    : info_(MakeInfo(id, options)),
      control_(control),
      budget_(id, options.memory_limit_bytes),
      thread_([&control] { control.ThreadMain(); }) {}

FakeDevice::~FakeDevice() {
  control_.RequestClose();
  thread_.join();
  control_.Closed();
  for (const auto& [address, size_bytes] : graveyard_) std::free(address);
}

absl::StatusOr<std::unique_ptr<Storage>> FakeDevice::Allocate(
    uint64_t size_bytes) {
  return AllocateAs(size_bytes, info_.is_host_addressable);
}

absl::StatusOr<std::unique_ptr<Storage>> FakeDevice::AllocateHostVisible(
    uint64_t size_bytes) {
  return AllocateAs(size_bytes, /*is_host_addressable=*/true);
}

absl::StatusOr<std::unique_ptr<Storage>> FakeDevice::AllocateAs(
    uint64_t size_bytes, bool is_host_addressable) {
  if (absl::Status status = health(); !status.ok()) return status;
  if (absl::Status status = budget_.Reserve(size_bytes); !status.ok()) {
    return status;
  }
  void* address = nullptr;
  if (posix_memalign(&address, kStorageAlignment,
                     std::max<uint64_t>(size_bytes, 1)) != 0) {
    absl::Status status = budget_.RefusedBySystem(size_bytes, "no memory");
    budget_.Release(size_bytes);
    return status;
  }
  return std::make_unique<FakeStorage>(*this, static_cast<std::byte*>(address),
                                       size_bytes, is_host_addressable);
}

absl::StatusOr<std::unique_ptr<Storage>> FakeDevice::ImportHostMemory(
    absl::Span<const std::byte>, std::shared_ptr<const void>) {
  return absl::UnimplementedError(
      absl::StrCat("device ", info_.id.ToString(), " imports no host memory"));
}

absl::StatusOr<std::unique_ptr<Lane>> FakeDevice::CreateLane() {
  if (absl::Status status = health(); !status.ok()) return status;
  return std::make_unique<FakeLane>(info_.id, control_, info_.records_programs);
}

absl::StatusOr<std::unique_ptr<KernelState>> FakeDevice::Prepare(
    const NodeSite& site) {
  if (absl::Status status = control_.RunPrepareHook(site); !status.ok()) {
    return status;
  }
  return std::make_unique<FakeKernelState>(control_);
}

void FakeDevice::Bury(std::byte* address, uint64_t size_bytes) {
  std::memset(address, kPoison, size_bytes);
  budget_.Release(size_bytes);
  absl::MutexLock lock(&graveyard_mu_);
  graveyard_.emplace_back(address, size_bytes);
  buried_bytes_ += size_bytes;
  size_t freed_count = 0;
  for (; buried_bytes_ > kGraveyardBytes; ++freed_count) {
    buried_bytes_ -= graveyard_[freed_count].second;
    std::free(graveyard_[freed_count].first);
  }
  graveyard_.erase(graveyard_.begin(), graveyard_.begin() + freed_count);
}

FakeStorage::FakeStorage(FakeDevice& device, std::byte* address,
                         uint64_t size_bytes, bool is_host_addressable)
    : Storage(device.info().id, address, size_bytes, is_host_addressable),
      device_(device),
      serial_(device.control().AddResource(&FakeCounts::storages_alive)) {}

FakeStorage::~FakeStorage() {
  device_.control().RemoveResource(serial_, &FakeCounts::storages_alive);
  device_.Bury(address(), size_bytes());
}

FakeKernelState::FakeKernelState(FakeControl& control)
    : control_(control),
      serial_(control.AddResource(&FakeCounts::states_alive)) {}

FakeKernelState::~FakeKernelState() {
  control_.RemoveResource(serial_, &FakeCounts::states_alive);
}

FakeProgram::FakeProgram(FakeControl& control,
                         std::vector<FakeOperation> operations)
    : control_(control),
      serial_(control.AddResource(&FakeCounts::programs_alive)),
      operations_(std::move(operations)) {
  control.CountRecorded();
}

FakeProgram::~FakeProgram() {
  control_.RemoveResource(serial_, &FakeCounts::programs_alive);
}

FakeLane::FakeLane(DeviceId device, FakeControl& control, bool records_programs)
    : Lane(device, /*is_synchronous=*/false),
      control_(control),
      lane_index_(control.AddLane()),
      records_programs_(records_programs) {}

FakeLane::~FakeLane() { control_.RemoveLane(lane_index_); }

absl::Status FakeLane::CopyToDevice(absl::Span<const std::byte> source,
                                    StorageView destination) {
  if (absl::Status status = CheckHostCopy(device(), source.size(), destination);
      !status.ok()) {
    return status;
  }
  if (absl::Status s = RefuseWhileRecording("a copy to the device"); !s.ok()) {
    return s;
  }
  return EnqueueCopy(destination.address(), source.data(), source.size(),
                     {SerialOf(destination)});
}

absl::Status FakeLane::CopyToHost(StorageView source,
                                  absl::Span<std::byte> destination) {
  if (absl::Status status = CheckHostCopy(device(), destination.size(), source);
      !status.ok()) {
    return status;
  }
  if (absl::Status s = RefuseWhileRecording("a copy to the host"); !s.ok()) {
    return s;
  }
  return EnqueueCopy(destination.data(), source.address(), destination.size(),
                     {SerialOf(source)});
}

absl::Status FakeLane::Copy(StorageView source, StorageView destination) {
  if (absl::Status status = CheckDeviceCopy(device(), source, destination);
      !status.ok()) {
    return status;
  }
  return EnqueueCopy(destination.address(), source.address(), source.size_bytes,
                     {SerialOf(source), SerialOf(destination)});
}

absl::Status FakeLane::EnqueueCopy(std::byte* destination,
                                   const std::byte* source, uint64_t size_bytes,
                                   std::vector<uint64_t> uses) {
  FakeOperation operation;
  operation.kind = FakeOperation::Kind::kCopy;
  operation.uses = std::move(uses);
  operation.work = [destination, source, size_bytes] {
    if (size_bytes != 0) std::memmove(destination, source, size_bytes);
    return absl::OkStatus();
  };
  return Take(std::move(operation));
}

absl::Status FakeLane::Take(FakeOperation operation) {
  if (!is_recording_) {
    return control_.Enqueue(lane_index_, std::move(operation));
  }
  recording_.push_back(std::move(operation));
  return absl::OkStatus();
}

absl::Status FakeLane::RefuseWhileRecording(const char* what) {
  if (!is_recording_) return absl::OkStatus();
  absl::Status refusal =
      absl::FailedPreconditionError(absl::StrCat(what, " cannot be recorded"));
  recording_status_.Update(refusal);
  return refusal;
}

absl::Status FakeLane::BeginRecording() {
  if (!records_programs_) return Lane::BeginRecording();
  if (absl::Status status = RefuseWhileRecording("a recording"); !status.ok()) {
    return status;
  }
  is_recording_ = true;
  recording_status_ = control_.health();
  recording_.clear();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Program>> FakeLane::EndRecording() {
  if (!is_recording_) return Lane::EndRecording();
  is_recording_ = false;
  if (!recording_status_.ok()) return recording_status_;
  if (control_.refuses_recordings()) {
    return absl::InternalError("the test refuses recordings");
  }
  return std::make_unique<FakeProgram>(control_, std::exchange(recording_, {}));
}

absl::Status FakeLane::Submit(const Program& program) {
  const auto& recorded = static_cast<const FakeProgram&>(program);
  return control_.EnqueueProgram(lane_index_, recorded.serial(),
                                 recorded.operations());
}

absl::Status FakeLane::ReserveTimeMarks(int count) {
  control_.ReserveTimeMarks(lane_index_, count);
  return absl::OkStatus();
}

absl::Status FakeLane::RecordTimeMark(int index) {
  FakeOperation operation;
  operation.kind = FakeOperation::Kind::kTimeMark;
  operation.time_mark = index;
  return Take(std::move(operation));
}

absl::Status FakeLane::ReadTimeMarks(absl::Span<int64_t> nanoseconds) {
  return control_.ReadTimeMarks(lane_index_, nanoseconds);
}

absl::StatusOr<CompletionHandle> FakeLane::RecordCompletion() {
  if (absl::Status s = RefuseWhileRecording("a completion"); !s.ok()) return s;
  auto completion = std::make_shared<HostCompletion>();
  FakeOperation operation;
  operation.kind = FakeOperation::Kind::kCompletion;
  operation.completion = completion;
  if (absl::Status status = control_.Enqueue(lane_index_, std::move(operation));
      !status.ok()) {
    return status;
  }
  return CompletionHandle::Pending(std::move(completion));
}

void FakeLane::Retain(std::shared_ptr<const void> owner) {
  FakeOperation operation;
  operation.kind = FakeOperation::Kind::kRetain;
  operation.owner = std::move(owner);
  // Refused only by a faulted device, which has nothing in flight to keep for.
  control_.Enqueue(lane_index_, std::move(operation)).IgnoreError();
}

absl::Status FakeLane::Drain(absl::Time deadline) {
  return control_.Drain(lane_index_, deadline);
}

absl::Status FakeLane::Launch(OpKind op, const char* kernel,
                              const KernelCall& call, Compute compute) {
  FakeOperation operation;
  operation.kind = FakeOperation::Kind::kLaunch;
  operation.launch.op = op;
  operation.launch.kernel = kernel;
  const auto use = [&operation](StorageView view) -> std::byte* {
    if (!view.is_present()) return nullptr;
    operation.uses.push_back(SerialOf(view));
    return view.address();
  };
  FakeCall copy;
  for (StorageView view : call.inputs) {
    copy.inputs.push_back(use(view));
    copy.input_bytes.push_back(view.size_bytes);
  }
  for (StorageView view : call.outputs) copy.outputs.push_back(use(view));
  copy.layouts.assign(call.layouts.begin(), call.layouts.end());
  copy.params = call.params;
  copy.workspace = use(call.context.workspace);
  copy.extent_cells =
      reinterpret_cast<int64_t*>(use(call.context.extent_cells));
  if (call.state != nullptr) {
    operation.uses.push_back(
        static_cast<const FakeKernelState*>(call.state)->serial());
  }
  operation.work = [copy = std::move(copy), compute] { return compute(copy); };
  return Take(std::move(operation));
}

}  // namespace tensord
