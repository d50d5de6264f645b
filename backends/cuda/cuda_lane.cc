#include "backends/cuda/cuda_lane.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/copy_check.h"
#include "backends/cuda/current_device.h"
#include "backends/cuda/stream_of.h"

namespace tensord::cuda {
namespace {

bool IsPinned(const std::byte* address) {
  cudaPointerAttributes attributes;
  return cudaPointerGetAttributes(&attributes, address) == cudaSuccess &&
         attributes.type == cudaMemoryTypeHost;
}

// Pinned memory comes in blocks of allocations, so its ends tell.
bool IsPinned(absl::Span<const std::byte> bytes) {
  return IsPinned(bytes.data()) && IsPinned(&bytes.back());
}

bool IsOfAnotherGpu(DeviceId device, StorageView view) {
  return view.is_present() && view.storage->device() != device &&
         view.storage->device().backend == device.backend;
}

// Copies between GPUs are checked for each one's own.
absl::Status CheckPeerCopy(StorageView source, StorageView destination) {
  if (!source.is_present() || !destination.is_present()) {
    return absl::InternalError("copy of an absent view");
  }
  if (absl::Status s =
          CheckHostCopy(source.storage->device(), source.size_bytes, source);
      !s.ok()) {
    return s;
  }
  return CheckHostCopy(destination.storage->device(), source.size_bytes,
                       destination);
}

}  // namespace

cudaStream_t StreamOf(const LaunchContext& context) {
  return static_cast<CudaLane*>(context.lane)->stream();
}

CudaProgram::~CudaProgram() {
  if (MakeCurrent(gpu_) == cudaSuccess) cudaGraphExecDestroy(exec_);
}

CudaLane::CudaLane(DeviceId device, cudaStream_t stream,
                   CompletionThread& thread, DeviceFault& fault)
    : Lane(device, /*is_synchronous=*/false),
      gpu_(device.ordinal),
      stream_(stream),
      thread_(thread),
      fault_(fault) {
  thread_.Add(&queue_);
}

CudaLane::~CudaLane() {
  if (is_recording_) EndRecording().status().IgnoreError();
  Drain(absl::InfiniteFuture()).IgnoreError();
  // A fault ends every batch too, and nothing runs on the device then.
  thread_.AwaitEnd(queue_, 0, absl::InfiniteFuture());
  thread_.Remove(&queue_);
  static_cast<void>(MakeCurrent(gpu_));
  if (current_.event != nullptr) cudaEventDestroy(current_.event);
  for (const cudaEvent_t mark : marks_) cudaEventDestroy(mark);
  cudaStreamDestroy(stream_);
}

cudaStream_t CudaLane::stream() {
  // An error shows at what is done with the stream.
  static_cast<void>(MakeCurrent(gpu_));
  has_work_ = true;
  return stream_;
}

absl::Status CudaLane::CheckUsable() {
  if (fault_.is_lost()) return fault_.status();
  return fault_.Check(MakeCurrent(gpu_), "cudaSetDevice");
}

absl::Status CudaLane::CheckNotRecording(const char* call) {
  if (!is_recording_) return absl::OkStatus();
  absl::Status status = absl::InternalError(absl::StrCat(
      "device ", device().ToString(), ": ", call, " while a lane records"));
  recording_error_.Update(status);
  return status;
}

absl::Status CudaLane::Enqueued(cudaError_t error, const char* call) {
  has_work_ = true;
  absl::Status status = fault_.Check(error, call);
  if (is_recording_) recording_error_.Update(status);
  return status;
}

absl::StatusOr<absl::Span<std::byte>> CudaLane::TakeStaging(
    uint64_t size_bytes) {
  if (staging_ == nullptr) {
    auto staging = StagingRing::Create(fault_);
    if (!staging.ok()) return staging.status();
    staging_ = *std::move(staging);
  }
  while (true) {
    const absl::Span<std::byte> piece =
        staging_->Take(size_bytes, queue_.staging_end());
    if (!piece.empty()) return piece;
    // All of it is on its way: what was enqueued gets an event, and the oldest
    // part is waited for.
    if (has_work_) {
      if (absl::Status s = EndBatch(nullptr); !s.ok()) return s;
    }
    const uint64_t in_flight = thread_.InFlight(queue_);
    thread_.AwaitEnd(queue_, in_flight > 0 ? in_flight - 1 : 0,
                     absl::InfiniteFuture());
    if (fault_.is_lost()) return fault_.status();
  }
}

absl::Status CudaLane::CopyToDevice(absl::Span<const std::byte> source,
                                    StorageView destination) {
  absl::Status status = CheckHostCopy(device(), source.size(), destination);
  if (status.ok()) status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("copy from the host");
  if (!status.ok() || source.empty()) return status;
  std::byte* to = destination.address();
  if (IsPinned(source)) {
    return Enqueued(cudaMemcpyAsync(to, source.data(), source.size(),
                                    cudaMemcpyDefault, stream_),
                    "cudaMemcpyAsync");
  }
  while (!source.empty() && status.ok()) {
    auto piece = TakeStaging(source.size());
    if (!piece.ok()) return piece.status();
    std::memcpy(piece->data(), source.data(), piece->size());
    status = Enqueued(cudaMemcpyAsync(to, piece->data(), piece->size(),
                                      cudaMemcpyDefault, stream_),
                      "cudaMemcpyAsync");
    source.remove_prefix(piece->size());
    to += piece->size();
  }
  return status;
}

absl::Status CudaLane::CopyToHost(StorageView source,
                                  absl::Span<std::byte> destination) {
  absl::Status status = CheckHostCopy(device(), destination.size(), source);
  if (status.ok()) status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("copy to the host");
  if (!status.ok() || destination.empty()) return status;
  const std::byte* from = source.address();
  if (IsPinned(destination)) {
    return Enqueued(
        cudaMemcpyAsync(destination.data(), from, destination.size(),
                        cudaMemcpyDefault, stream_),
        "cudaMemcpyAsync");
  }
  while (!destination.empty() && status.ok()) {
    auto piece = TakeStaging(destination.size());
    if (!piece.ok()) return piece.status();
    status = Enqueued(cudaMemcpyAsync(piece->data(), from, piece->size(),
                                      cudaMemcpyDefault, stream_),
                      "cudaMemcpyAsync");
    if (status.ok()) {
      current_.copy_outs.push_back(
          {piece->data(), destination.first(piece->size())});
    }
    destination.remove_prefix(piece->size());
    from += piece->size();
  }
  return status;
}

absl::Status CudaLane::Copy(StorageView source, StorageView destination) {
  const bool is_between_gpus =
      IsOfAnotherGpu(device(), source) || IsOfAnotherGpu(device(), destination);
  absl::Status status = is_between_gpus
                            ? CheckPeerCopy(source, destination)
                            : CheckDeviceCopy(device(), source, destination);
  if (status.ok()) status = CheckUsable();
  if (!status.ok() || source.size_bytes == 0) return status;
  if (is_between_gpus && !source.storage->is_host_addressable() &&
      !destination.storage->is_host_addressable()) {
    return Enqueued(
        cudaMemcpyPeerAsync(destination.address(),
                            destination.storage->device().ordinal,
                            source.address(), source.storage->device().ordinal,
                            source.size_bytes, stream_),
        "cudaMemcpyPeerAsync");
  }
  return Enqueued(
      cudaMemcpyAsync(destination.address(), source.address(),
                      source.size_bytes, cudaMemcpyDefault, stream_),
      "cudaMemcpyAsync");
}

absl::Status CudaLane::EndBatch(std::shared_ptr<HostCompletion> completion) {
  absl::Status status;
  if (current_.event == nullptr) {
    status = fault_.Check(
        cudaEventCreateWithFlags(&current_.event, cudaEventDisableTiming),
        "cudaEventCreateWithFlags");
    if (!status.ok()) return status;
  }
  status =
      fault_.Check(cudaEventRecord(current_.event, stream_), "cudaEventRecord");
  if (!status.ok()) return status;
  current_.completion = std::move(completion);
  current_.staging_end = staging_ == nullptr ? 0 : staging_->end();
  thread_.Push(queue_, std::move(current_));
  current_ = thread_.Spare(queue_);
  has_work_ = false;
  return absl::OkStatus();
}

absl::StatusOr<CompletionHandle> CudaLane::RecordCompletion() {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("completion");
  if (!status.ok()) return status;
  auto completion = std::make_shared<HostCompletion>();
  status = EndBatch(completion);
  if (!status.ok()) return status;
  return CompletionHandle::Pending(std::move(completion));
}

void CudaLane::Retain(std::shared_ptr<const void> owner) {
  // On a lost device nothing is in flight that it would be kept for.
  if (fault_.is_lost()) return;
  current_.owners.push_back(std::move(owner));
  has_work_ = true;  // so that an event comes that lets go of it
}

absl::Status CudaLane::Drain(absl::Time deadline) {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("drain");
  if (status.ok() && has_work_) status = EndBatch(nullptr);
  if (!status.ok()) return status;
  if (!thread_.AwaitEnd(queue_, 0, deadline)) {
    return absl::DeadlineExceededError(absl::StrCat(
        "a lane of device ", device().ToString(), " has ",
        thread_.InFlight(queue_), " submissions in flight at the deadline"));
  }
  return fault_.status();
}

absl::Status CudaLane::BeginRecording() {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("begin of a recording");
  if (!status.ok()) return status;
  // Relaxed: what other threads do meanwhile, such as an allocation, is no part
  // of it and may go on.
  status = fault_.Check(
      cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed),
      "cudaStreamBeginCapture");
  is_recording_ = status.ok();
  recording_error_ = absl::OkStatus();
  return status;
}

absl::StatusOr<std::unique_ptr<Program>> CudaLane::EndRecording() {
  if (!is_recording_) {
    return absl::InternalError(
        absl::StrCat("device ", device().ToString(), ": end of no recording"));
  }
  is_recording_ = false;
  static_cast<void>(MakeCurrent(gpu_));
  cudaGraph_t graph = nullptr;
  absl::Status status = fault_.Check(cudaStreamEndCapture(stream_, &graph),
                                     "cudaStreamEndCapture");
  if (!recording_error_.ok()) status = recording_error_;
  cudaGraphExec_t exec = nullptr;
  if (status.ok()) {
    status = fault_.Check(cudaGraphInstantiate(&exec, graph, 0),
                          "cudaGraphInstantiate");
  }
  if (graph != nullptr) cudaGraphDestroy(graph);
  if (!status.ok()) return status;
  auto program = std::make_unique<CudaProgram>(gpu_, exec);
  // So that the first launch is as quick as the others.
  status = Enqueued(cudaGraphUpload(exec, stream_), "cudaGraphUpload");
  if (!status.ok()) return status;
  return program;
}

absl::Status CudaLane::Submit(const Program& program) {
  absl::Status status = CheckUsable();
  if (status.ok()) status = CheckNotRecording("submission of a program");
  if (!status.ok()) return status;
  return Enqueued(
      cudaGraphLaunch(static_cast<const CudaProgram&>(program).exec(), stream_),
      "cudaGraphLaunch");
}

absl::Status CudaLane::ReserveTimeMarks(int count) {
  absl::Status status = CheckUsable();
  while (status.ok() && static_cast<int>(marks_.size()) < count) {
    cudaEvent_t mark = nullptr;
    status = fault_.Check(cudaEventCreateWithFlags(&mark, cudaEventDefault),
                          "cudaEventCreateWithFlags");
    if (status.ok()) marks_.push_back(mark);
  }
  return status;
}

absl::Status CudaLane::RecordTimeMark(int index) {
  if (absl::Status s = CheckUsable(); !s.ok()) return s;
  if (index < 0 || index >= static_cast<int>(marks_.size())) {
    return absl::InternalError(absl::StrCat("device ", device().ToString(),
                                            ": time mark ", index, " of ",
                                            marks_.size()));
  }
  // In a program it is a node, which each launch passes again.
  const unsigned flags =
      is_recording_ ? cudaEventRecordExternal : cudaEventRecordDefault;
  return Enqueued(cudaEventRecordWithFlags(marks_[index], stream_, flags),
                  "cudaEventRecordWithFlags");
}

absl::Status CudaLane::ReadTimeMarks(absl::Span<int64_t> nanoseconds) {
  if (absl::Status s = CheckUsable(); !s.ok()) return s;
  if (nanoseconds.size() > marks_.size()) {
    return absl::InternalError(absl::StrCat("device ", device().ToString(),
                                            ": ", nanoseconds.size(),
                                            " time marks of ", marks_.size()));
  }
  for (size_t i = 0; i < nanoseconds.size(); ++i) {
    float milliseconds = 0;
    absl::Status s =
        fault_.Check(cudaEventElapsedTime(&milliseconds, marks_[0], marks_[i]),
                     "cudaEventElapsedTime");
    if (!s.ok()) return s;
    nanoseconds[i] = std::llround(milliseconds * 1e6);
  }
  return absl::OkStatus();
}

}  // namespace tensord::cuda
