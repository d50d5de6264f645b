// Streams as threads with a queue, events, and graphs as recorded queues.

#include <chrono>
#include <utility>

#include "backends/cuda/cuda_status.h"
#include "backends/cuda/emulation/emulated_device.h"
#include "backends/cuda/emulation/grid.h"

namespace tensord::cuda::emulation {
namespace {

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A stream's thread.
void RunStream(CUstream_st& stream) {
  EmulatedDevice& device = stream.device;
  device.mu.Lock();
  while (true) {
    const bool may_run =
        !device.is_paused || device.fault != cudaSuccess || stream.is_closing;
    if (stream.queue.empty() || !may_run) {
      if (stream.queue.empty() && stream.is_closing) break;
      device.changed.Wait(&device.mu);
      continue;
    }
    Operation operation = std::move(stream.queue.front());
    stream.queue.pop_front();
    device.mu.Unlock();
    Execute(device, operation);
    operation = {};  // what it holds goes before it counts as done
    device.mu.Lock();
    ++stream.done;
    device.changed.SignalAll();
  }
  device.mu.Unlock();
}

Operation Passing(cudaEvent_t event, int64_t number) {
  return {.work = [event, number] {
    absl::MutexLock lock(&event->device.mu);
    event->passed = number;
    event->passed_ns = NowNs();
    event->device.changed.SignalAll();
  }};
}

bool HasPassed(cudaEvent_t event) { return event->passed >= event->recorded; }

}  // namespace

cudaError_t EnqueueOn(cudaStream_t stream, Operation operation) {
  EmulatedDevice& device = stream->device;
  if (operation.is_launch && &device != &CurrentDevice()) {
    return cudaErrorInvalidResourceHandle;
  }
  absl::MutexLock lock(&device.mu);
  if (stream->recording != nullptr) {
    stream->recording->operations.push_back(std::move(operation));
    return cudaSuccess;
  }
  if (device.fault != cudaSuccess && !operation.runs_after_fault) {
    return device.fault;
  }
  stream->queue.push_back(std::move(operation));
  ++stream->enqueued;
  ++device.counts.submissions;
  device.changed.SignalAll();
  return cudaSuccess;
}

cudaError_t Synchronize(cudaStream_t stream) {
  EmulatedDevice& device = stream->device;
  absl::MutexLock lock(&device.mu);
  if (stream->recording != nullptr) return cudaErrorStreamCaptureUnsupported;
  const int64_t target = stream->enqueued;
  while (stream->done < target && device.fault == cudaSuccess) {
    device.changed.Wait(&device.mu);
  }
  return device.fault;
}

absl::Status Enqueue(cudaStream_t stream, const GridShape& shape,
                     std::function<void()> kernel) {
  Operation operation = {
      .work = [shape, kernel = std::move(kernel)] { RunGrid(shape, kernel); },
      .is_launch = true};
  return CudaStatus(EnqueueOn(stream, std::move(operation)),
                    "cudaLaunchKernelEx");
}

}  // namespace tensord::cuda::emulation

using namespace tensord::cuda::emulation;  // NOLINT: this file is its inside

CUstream_st::CUstream_st(EmulatedDevice& its_device)
    : device(its_device), thread([this] { RunStream(*this); }) {
  absl::MutexLock lock(&device.mu);
  ++device.counts.streams_alive;
}

CUstream_st::~CUstream_st() {
  {
    absl::MutexLock lock(&device.mu);
    is_closing = true;
    device.changed.SignalAll();
  }
  thread.join();
  absl::MutexLock lock(&device.mu);
  --device.counts.streams_alive;
}

extern "C" {

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  const cudaError_t fault = FaultOf(CurrentDevice());
  if (fault == cudaSuccess) *stream = new CUstream_st(CurrentDevice());
  return fault;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                         int) {
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  EmulatedDevice& device = stream->device;
  delete stream;
  return FaultOf(device);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return Synchronize(stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  absl::MutexLock lock(&stream->device.mu);
  if (stream->device.fault != cudaSuccess) return stream->device.fault;
  return stream->done < stream->enqueued ? cudaErrorNotReady : cudaSuccess;
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                               void* data) {
  return EnqueueOn(stream, {.work = [function, data] { function(data); }});
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const cudaError_t fault = FaultOf(CurrentDevice());
  if (fault == cudaSuccess) *event = new CUevent_st(CurrentDevice());
  return fault;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  EmulatedDevice& device = event->device;
  {
    // An event that is on its way through a stream stays until it has passed.
    absl::MutexLock lock(&device.mu);
    while (!HasPassed(event) && device.fault == cudaSuccess) {
      device.changed.Wait(&device.mu);
    }
  }
  delete event;
  return FaultOf(device);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
                                     unsigned flags) {
  int64_t number = 0;
  {
    absl::MutexLock lock(&event->device.mu);
    const bool is_in_graph = stream->recording != nullptr;
    event->recording = stream->recording;
    if (is_in_graph && flags != cudaEventRecordExternal) return cudaSuccess;
    number = event->recorded + 1;
    // In a graph it is recorded again by each launch of that.
    if (!is_in_graph) event->recorded = number;
    ++event->device.counts.events_recorded;
  }
  return EnqueueOn(stream, Passing(event, number));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  absl::MutexLock lock(&event->device.mu);
  if (event->device.fault != cudaSuccess) return event->device.fault;
  return HasPassed(event) ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  EmulatedDevice& device = event->device;
  absl::MutexLock lock(&device.mu);
  while (!HasPassed(event) && device.fault == cudaSuccess) {
    device.changed.Wait(&device.mu);
  }
  return device.fault;
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start,
                                 cudaEvent_t end) {
  absl::MutexLock lock(&start->device.mu);
  if (start->device.fault != cudaSuccess) return start->device.fault;
  if (start->passed_ns == 0 || end->passed_ns == 0) {
    return cudaErrorInvalidResourceHandle;
  }
  if (!HasPassed(start) || !HasPassed(end)) return cudaErrorNotReady;
  *milliseconds = static_cast<float>(end->passed_ns - start->passed_ns) * 1e-6f;
  return cudaSuccess;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
                                unsigned) {
  int64_t number = 0;
  {
    absl::MutexLock lock(&event->device.mu);
    if (std::shared_ptr<CUgraph_st> recording = event->recording.lock()) {
      // The stream joins the recording; what is recorded is in order anyway.
      stream->recording = std::move(recording);
      return cudaSuccess;
    }
    number = event->recorded;
  }
  return EnqueueOn(
      stream, {.work = [event, number] {
        EmulatedDevice& device = event->device;
        absl::MutexLock lock(&device.mu);
        while (event->passed < number && device.fault == cudaSuccess) {
          device.changed.Wait(&device.mu);
        }
      }});
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  absl::MutexLock lock(&stream->device.mu);
  if (stream->device.fault != cudaSuccess) return stream->device.fault;
  stream->recording = std::make_shared<CUgraph_st>();
  stream->is_origin = true;
  return cudaSuccess;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus* status) {
  absl::MutexLock lock(&stream->device.mu);
  *status = stream->recording != nullptr ? cudaStreamCaptureStatusActive
                                         : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  absl::MutexLock lock(&stream->device.mu);
  *graph = nullptr;
  if (!stream->is_origin) return cudaErrorStreamCaptureUnmatched;
  *graph = new CUgraph_st(std::move(*stream->recording));
  stream->recording.reset();
  stream->is_origin = false;
  return stream->device.fault;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long) {
  const cudaError_t fault = FaultOf(CurrentDevice());
  if (fault != cudaSuccess) return fault;
  *exec = new CUgraphExec_st{
      std::make_shared<const std::vector<Operation>>(graph->operations)};
  return cudaSuccess;
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t stream) {
  return FaultOf(stream->device);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  delete exec;
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  EmulatedDevice& device = stream->device;
  {
    absl::MutexLock lock(&device.mu);
    ++device.counts.graph_launches;
  }
  return EnqueueOn(stream, {.work = [&device, operations = exec->operations] {
                     for (const Operation& operation : *operations) {
                       Execute(device, operation);
                     }
                   }});
}

}  // extern "C"
