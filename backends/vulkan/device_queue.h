#ifndef TENSORD_BACKENDS_VULKAN_DEVICE_QUEUE_H_
#define TENSORD_BACKENDS_VULKAN_DEVICE_QUEUE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "backends/api/completion.h"
#include "backends/vulkan/device_fault.h"
#include "backends/vulkan/vulkan_api.h"

namespace tensord::vulkan {

// Bytes that the device has put into staging memory, and where they go.
struct CopyOut {
  const std::byte* staged = nullptr;
  absl::Span<std::byte> destination;
};

// What is submitted at once and ends with one value of the timeline.
struct Batch {
  std::vector<VkCommandBuffer> commands;  // in order
  std::vector<VkCommandBuffer> own;       // those to be recorded anew later
  std::shared_ptr<HostCompletion> completion;  // null: nobody waits for it
  std::vector<CopyOut> copy_outs;
  std::vector<std::shared_ptr<const void>> owners;
  uint64_t staging_end = 0;  // staging memory up to here is free again
};

// The batches of one lane.
class LaneBatches {
 public:
  // Of the last batch that ended, read by the lane's thread.
  uint64_t staging_end() const {
    return staging_end_.load(std::memory_order_acquire);
  }

 private:
  friend class DeviceQueue;
  uint64_t submitted_ = 0;  // guarded by the queue's lock, as all below
  uint64_t ended_ = 0;
  std::vector<Batch> spare_;  // emptied ones, with their capacity and `own`
  std::atomic<uint64_t> staging_end_{0};
};

// The one queue of a device that its lanes share, and the thread that learns of
// the end of work. Each submission signals the next value of one timeline
// semaphore. Signals of a queue come in the order of its submissions, so the
// thread waits for the oldest value alone, and a later one is never missed.
//
// Threading: thread-safe; a LaneBatches belongs to one lane's thread. Callbacks
//   of completions run on this thread.
// Ownership: the device's. It ends when all lanes are gone.
// Errors: a lost device ends every batch with the fault, once nothing runs on
//   it: what a batch refers to stays until then.
class DeviceQueue {
 public:
  static absl::StatusOr<std::unique_ptr<DeviceQueue>> Create(
      const VulkanApi& api, VkDevice device, uint32_t family,
      DeviceFault& fault);
  ~DeviceQueue();

  // Submits batch.commands and takes the batch. On an error the batch is as it
  // was, and may be submitted again.
  absl::Status Submit(LaneBatches& lane, Batch& batch);

  // A batch to fill, perhaps one that has been used before.
  Batch Spare(LaneBatches& lane);

  // Whether all that was submitted, but the last `remaining`, has ended by
  // then.
  bool AwaitEnd(LaneBatches& lane, uint64_t remaining, absl::Time deadline);
  uint64_t InFlight(LaneBatches& lane);

 private:
  struct Submitted {
    uint64_t value;
    LaneBatches* lane;
    Batch batch;
  };

  DeviceQueue(const VulkanApi& api, VkDevice device, VkQueue queue,
              VkSemaphore timeline, DeviceFault& fault);
  void Main();
  // The value that the device has reached; at most 100 ms later, or at `value`.
  uint64_t AwaitValue(uint64_t value);
  void EndFirst(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const VulkanApi& api_;
  const VkDevice device_;
  const VkQueue queue_;
  const VkSemaphore timeline_;
  DeviceFault& fault_;

  absl::Mutex submit_mu_
      ABSL_ACQUIRED_BEFORE(mu_);  // a VkQueue takes one caller
  uint64_t last_value_ ABSL_GUARDED_BY(submit_mu_) = 0;
  absl::Mutex mu_;
  absl::CondVar submitted_;
  absl::CondVar ended_;
  std::deque<Submitted> in_flight_ ABSL_GUARDED_BY(mu_);
  bool is_closing_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_DEVICE_QUEUE_H_
