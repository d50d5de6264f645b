#ifndef TENSORD_BACKENDS_CUDA_EMULATION_EMULATED_DEVICE_H_
#define TENSORD_BACKENDS_CUDA_EMULATION_EMULATED_DEVICE_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "backends/cuda/emulation/control.h"

namespace tensord::cuda::emulation {

// A GPU of the emulated runtime: what its streams share. One lock guards all of
// a device, its streams' queues and its events included.
struct EmulatedDevice {
  int ordinal = 0;
  absl::Mutex mu;
  absl::CondVar changed;  // signalled on every change below, and of queues
  cudaError_t fault ABSL_GUARDED_BY(mu) = cudaSuccess;
  bool is_paused ABSL_GUARDED_BY(mu) = false;
  int64_t faulting_launch ABSL_GUARDED_BY(mu) = -1;
  cudaError_t coming_fault ABSL_GUARDED_BY(mu) = cudaSuccess;
  int refused_allocations ABSL_GUARDED_BY(mu) = 0;
  Counts counts ABSL_GUARDED_BY(mu);
};

// Null for an ordinal that is not below the device count.
EmulatedDevice* DeviceAt(int ordinal);
// The one that cudaSetDevice chose for this thread.
EmulatedDevice& CurrentDevice();
int DeviceCount(cudaError_t* reason);

// The fault that the device has; cudaSuccess without one.
cudaError_t FaultOf(EmulatedDevice& device);

// Work on a stream, in order.
struct Operation {
  std::function<void()> work;
  bool is_launch = false;  // counted, and where injected faults come
  // Memory is freed even on a device that is lost.
  bool runs_after_fault = false;
};

// Appends to the stream or, while that records, to its graph. The launch's
// device must be current, as the runtime wants it.
cudaError_t EnqueueOn(cudaStream_t stream, Operation operation);

// Executes an operation on the thread of a stream of `device`.
void Execute(EmulatedDevice& device, const Operation& operation);

// Waits until everything that was enqueued so far is done.
cudaError_t Synchronize(cudaStream_t stream);

}  // namespace tensord::cuda::emulation

// The runtime's handles, which are pointers to these.
struct CUgraph_st {
  std::vector<tensord::cuda::emulation::Operation> operations;
};

struct CUgraphExec_st {
  std::shared_ptr<const std::vector<tensord::cuda::emulation::Operation>>
      operations;
};

struct CUstream_st {
  explicit CUstream_st(tensord::cuda::emulation::EmulatedDevice& its_device);
  ~CUstream_st();  // waits until the queue is empty

  tensord::cuda::emulation::EmulatedDevice& device;
  std::deque<tensord::cuda::emulation::Operation> queue;  // guarded by the
  int64_t enqueued = 0;                                   // device's lock,
  int64_t done = 0;                                       // and so are these
  bool is_closing = false;
  // The graph that work is recorded into instead of run; shared by the streams
  // that joined the recording. The origin is the stream that began it.
  std::shared_ptr<CUgraph_st> recording;
  bool is_origin = false;

  std::thread thread;
};

struct CUevent_st {
  explicit CUevent_st(tensord::cuda::emulation::EmulatedDevice& its_device)
      : device(its_device) {}

  tensord::cuda::emulation::EmulatedDevice& device;
  // Numbers of recordings: the last one asked for, and the last one passed.
  int64_t recorded = 0;
  int64_t passed = 0;
  int64_t passed_ns = 0;
  std::weak_ptr<CUgraph_st> recording;  // where it was recorded, if in a graph
};

#endif  // TENSORD_BACKENDS_CUDA_EMULATION_EMULATED_DEVICE_H_
