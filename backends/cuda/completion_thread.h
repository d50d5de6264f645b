#ifndef TENSORD_BACKENDS_CUDA_COMPLETION_THREAD_H_
#define TENSORD_BACKENDS_CUDA_COMPLETION_THREAD_H_

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/completion.h"
#include "backends/cuda/device_fault.h"

namespace tensord::cuda {

// Bytes that the device has put into staging memory, and where they go.
struct CopyOut {
  const std::byte* staged = nullptr;
  absl::Span<std::byte> destination;
};

// What ends with one event of a lane: everything since the event before.
struct Batch {
  cudaEvent_t event = nullptr;
  std::shared_ptr<HostCompletion> completion;  // null: nobody waits for it
  std::vector<CopyOut> copy_outs;
  std::vector<std::shared_ptr<const void>> owners;
  uint64_t staging_end = 0;  // staging memory up to here is free again
};

// The batches of one lane that are in flight, in order.
class BatchQueue {
 public:
  // Of the last batch that ended, read by the lane's thread.
  uint64_t staging_end() const {
    return staging_end_.load(std::memory_order_acquire);
  }

 private:
  friend class CompletionThread;
  std::deque<Batch> in_flight_;  // guarded by the thread's lock, as all below
  uint64_t pushed_ = 0;
  uint64_t ended_ = 0;
  std::vector<Batch> spare_;  // emptied ones, with their events and capacity
  std::atomic<uint64_t> staging_end_{0};
};

// The one thread of a device that learns of the end of work. It asks the oldest
// event of each lane; after 50 us in which nothing ended it sleeps between two
// looks, an eighth of the time that it has waited, 20 us to 500 us. (Blocking
// in the driver for one lane's event would leave the others' waiting behind
// it.) Where nothing is in flight it sleeps until something is.
//
// Threading: thread-safe; a queue belongs to one lane's thread. Callbacks of
//   completions run on this thread.
// Ownership: the device's. It ends when all queues are gone.
// Errors: an error of an event is a fault of the device: every batch of every
//   queue ends with it.
class CompletionThread {
 public:
  CompletionThread(int gpu, DeviceFault& fault);
  ~CompletionThread();

  void Add(BatchQueue* queue);
  // The queue is empty.
  void Remove(BatchQueue* queue);

  // A batch to fill, perhaps one that has been used before. Its event is null
  // or can be recorded again.
  Batch Spare(BatchQueue& queue);

  // Its event has been recorded, unless the device is lost.
  void Push(BatchQueue& queue, Batch batch);

  // Whether all that was pushed, but the last `remaining`, has ended by then.
  bool AwaitEnd(BatchQueue& queue, uint64_t remaining, absl::Time deadline);
  uint64_t InFlight(BatchQueue& queue);

 private:
  void Main();
  // Ends what is done; false when nothing is.
  bool EndFinished() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndFirst(BatchQueue& queue, absl::Status status)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndAll(const absl::Status& fault) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Rest(int64_t idle_ns) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int gpu_;
  DeviceFault& fault_;
  absl::Mutex mu_;
  absl::CondVar pushed_;
  absl::CondVar ended_;
  std::vector<BatchQueue*> queues_ ABSL_GUARDED_BY(mu_);
  uint64_t in_flight_count_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t push_count_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<BatchQueue*> looked_at_;  // the thread's own
  std::thread thread_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_COMPLETION_THREAD_H_
