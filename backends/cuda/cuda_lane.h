#ifndef TENSORD_BACKENDS_CUDA_CUDA_LANE_H_
#define TENSORD_BACKENDS_CUDA_CUDA_LANE_H_

#include <cuda_runtime_api.h>

#include <memory>
#include <vector>

#include "backends/api/backend.h"
#include "backends/cuda/completion_thread.h"
#include "backends/cuda/device_fault.h"
#include "backends/cuda/staging_ring.h"

namespace tensord::cuda {

// A recorded CUDA graph, ready to be launched.
class CudaProgram final : public Program {
 public:
  // Takes the executable graph of that GPU.
  CudaProgram(int gpu, cudaGraphExec_t exec) : gpu_(gpu), exec_(exec) {}
  ~CudaProgram() override;

  cudaGraphExec_t exec() const { return exec_; }

 private:
  const int gpu_;
  const cudaGraphExec_t exec_;
};

// A non-blocking stream. Copies between the device and pinned memory are the
// stream's own; bytes of ordinary host memory go through pinned memory of the
// lane's: in at once, so that their source is free again when the call returns,
// and out when the device is done, before the completion that follows. A copy
// that is larger than the staging memory waits for parts of itself.
//
// There is no second stream for copies: those of one execution wait for its
// kernels or the other way round, and other executions have streams of their
// own, which the copy engines work for meanwhile.
//
// Threading, ownership and errors: as Lane says.
class CudaLane final : public Lane {
 public:
  // `thread` and `fault` are the device's. Takes the stream.
  CudaLane(DeviceId device, cudaStream_t stream, CompletionThread& thread,
           DeviceFault& fault);
  ~CudaLane() override;

  // Where kernels are launched; makes the GPU current.
  cudaStream_t stream();

  absl::Status CopyToDevice(absl::Span<const std::byte> source,
                            StorageView destination) override;
  absl::Status CopyToHost(StorageView source,
                          absl::Span<std::byte> destination) override;
  // Also from and to storages of other GPUs.
  absl::Status Copy(StorageView source, StorageView destination) override;
  absl::StatusOr<CompletionHandle> RecordCompletion() override;
  void Retain(std::shared_ptr<const void> owner) override;
  absl::Status Drain(absl::Time deadline) override;
  absl::Status BeginRecording() override;
  absl::StatusOr<std::unique_ptr<Program>> EndRecording() override;
  absl::Status Submit(const Program& program) override;
  absl::Status ReserveTimeMarks(int count) override;
  absl::Status RecordTimeMark(int index) override;
  absl::Status ReadTimeMarks(absl::Span<int64_t> nanoseconds) override;

 private:
  // OK when work can be enqueued: then the GPU is current. What cannot be
  // recorded fails the recording; `call` says what it was.
  absl::Status CheckUsable();
  absl::Status CheckNotRecording(const char* call);
  absl::Status Enqueued(cudaError_t error, const char* call);

  absl::StatusOr<absl::Span<std::byte>> TakeStaging(uint64_t size_bytes);
  // Records the event of the current batch, and begins the next.
  absl::Status EndBatch(std::shared_ptr<HostCompletion> completion);

  const int gpu_;
  const cudaStream_t stream_;
  CompletionThread& thread_;
  DeviceFault& fault_;
  BatchQueue queue_;
  Batch current_;
  bool has_work_ = false;  // enqueued since the last event
  bool is_recording_ = false;
  absl::Status recording_error_;
  std::unique_ptr<StagingRing> staging_;
  std::vector<cudaEvent_t> marks_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_CUDA_LANE_H_
