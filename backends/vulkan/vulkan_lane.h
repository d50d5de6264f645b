#ifndef TENSORD_BACKENDS_VULKAN_VULKAN_LANE_H_
#define TENSORD_BACKENDS_VULKAN_VULKAN_LANE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "backends/api/backend.h"
#include "backends/vulkan/device_queue.h"
#include "backends/vulkan/hazard_tracker.h"
#include "backends/vulkan/mapped_ring.h"
#include "backends/vulkan/vulkan_device.h"

namespace tensord::vulkan {

// One launch of a kernel. Borrows everything for the call's length.
struct Dispatch {
  VkPipeline pipeline;
  absl::Span<const std::byte> arguments;  // at most kPushConstantBytes
  std::array<uint32_t, 3> groups;
  // What it touches beside constant tables; none: as the dispatch before.
  absl::Span<const ByteRange> reads;
  absl::Span<const ByteRange> writes;
};

// A recorded command buffer.
class VulkanProgram final : public Program {
 public:
  VulkanProgram(VulkanDevice& device, VkCommandPool pool)
      : device_(device), pool_(pool) {}
  ~VulkanProgram() override;

  VkCommandBuffer commands = nullptr;

 private:
  VulkanDevice& device_;
  const VkCommandPool pool_;
};

// Commands are recorded as they come, and submitted with RecordCompletion(), or
// before when there are many: the device then works while the host records, and
// no submission runs into a driver's time limit. A barrier stands where the
// HazardTracker says so, and at the begin of each command buffer, since
// submissions of one queue overlap.
//
// Bytes of the host go through a ring of mapped memory: in at once, so that
// their source is free again when the call returns, and out when the device is
// done, before the completion that follows. A copy that is larger than the
// ring waits for parts of itself.
//
// Threading, ownership and errors: as Lane says.
class VulkanLane final : public Lane {
 public:
  static absl::StatusOr<std::unique_ptr<VulkanLane>> Create(
      VulkanDevice& device);
  ~VulkanLane() override;

  // For kernels.
  absl::Status Enqueue(const Dispatch& dispatch);
  // An empty one to fill for a Dispatch, so that a launch allocates nothing.
  Accesses& EmptyAccesses() {
    accesses_.Clear();
    return accesses_;
  }

  absl::Status CopyToDevice(absl::Span<const std::byte> source,
                            StorageView destination) override;
  absl::Status CopyToHost(StorageView source,
                          absl::Span<std::byte> destination) override;
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
  VulkanLane(VulkanDevice& device, VkCommandPool pool);

  absl::Status CheckUsable() const;
  absl::Status CheckNotRecording(const char* call);

  // The command buffer that commands go to: the recording's, or the batch's.
  absl::StatusOr<VkCommandBuffer> Commands();
  absl::StatusOr<VkCommandBuffer> BeginCommands(VkCommandBufferUsageFlags flags,
                                                VkCommandBuffer buffer);
  absl::Status EndCommands(VkCommandBuffer buffer);
  absl::Status CloseCurrent();
  // A barrier ahead of a command with these accesses, where one is needed.
  void Order(VkCommandBuffer buffer, absl::Span<const ByteRange> reads,
             absl::Span<const ByteRange> writes);
  absl::Status CopyBuffers(VkBuffer from, uint64_t from_offset, VkBuffer to,
                           uint64_t to_offset, uint64_t size_bytes,
                           absl::Span<const ByteRange> reads,
                           absl::Span<const ByteRange> writes);

  absl::StatusOr<MappedRing::Piece> TakeStaging(uint64_t size_bytes);
  // Submits the current batch, and begins the next.
  absl::Status EndBatch(std::shared_ptr<HostCompletion> completion);
  // Waits until one batch less is in flight; submits what there is first.
  absl::Status AwaitOldest();

  VulkanDevice& device_;
  const VulkanApi& api_;
  const VkCommandPool pool_;
  DeviceQueue& queue_;
  DeviceFault& fault_;
  LaneBatches batches_;
  Batch current_;
  VkCommandBuffer open_ = nullptr;  // of the current batch, being recorded
  size_t own_used_ = 0;             // of current_.own
  int command_count_ = 0;           // in the current batch
  bool has_work_ = false;           // since the last submission
  HazardTracker hazards_;
  Accesses accesses_;

  std::unique_ptr<VulkanProgram> recording_;
  HazardTracker recorded_hazards_;
  absl::Status recording_error_;

  std::unique_ptr<MappedRing> staging_;
  // Time marks, so many a pool: programs refer to them, so that none may move.
  static constexpr int kMarksAPool = 256;
  std::vector<VkQueryPool> mark_pools_;
  int mark_count_ = 0;
  std::vector<uint64_t> ticks_;
};

}  // namespace tensord::vulkan

#endif  // TENSORD_BACKENDS_VULKAN_VULKAN_LANE_H_
