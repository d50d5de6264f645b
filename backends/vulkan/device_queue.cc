#include "backends/vulkan/device_queue.h"

#include <cstring>
#include <utility>

#include "absl/memory/memory.h"

namespace tensord::vulkan {
namespace {

// How long the driver is asked to wait at once: a fault that a lane has seen
// reaches those who wait within this time.
constexpr uint64_t kWaitNs = 100'000'000;

}  // namespace

absl::StatusOr<std::unique_ptr<DeviceQueue>> DeviceQueue::Create(
    const VulkanApi& api, VkDevice device, uint32_t family,
    DeviceFault& fault) {
  const VkSemaphoreTypeCreateInfo type = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
      .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
      .initialValue = 0};
  const VkSemaphoreCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO, .pNext = &type};
  VkSemaphore timeline = VK_NULL_HANDLE;
  absl::Status status =
      fault.Check(api.CreateSemaphore(device, &info, nullptr, &timeline),
                  "vkCreateSemaphore");
  if (!status.ok()) return status;
  VkQueue queue = nullptr;
  api.GetDeviceQueue(device, family, 0, &queue);
  return absl::WrapUnique(new DeviceQueue(api, device, queue, timeline, fault));
}

DeviceQueue::DeviceQueue(const VulkanApi& api, VkDevice device, VkQueue queue,
                         VkSemaphore timeline, DeviceFault& fault)
    : api_(api),
      device_(device),
      queue_(queue),
      timeline_(timeline),
      fault_(fault),
      thread_([this] { Main(); }) {}

DeviceQueue::~DeviceQueue() {
  {
    absl::MutexLock lock(&mu_);
    is_closing_ = true;
    submitted_.Signal();
  }
  thread_.join();
  api_.DestroySemaphore(device_, timeline_, nullptr);
}

absl::Status DeviceQueue::Submit(LaneBatches& lane, Batch& batch) {
  absl::MutexLock submit_lock(&submit_mu_);
  if (fault_.is_lost()) return fault_.status();
  const uint64_t value = last_value_ + 1;
  const VkTimelineSemaphoreSubmitInfo timeline = {
      .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
      .signalSemaphoreValueCount = 1,
      .pSignalSemaphoreValues = &value};
  const VkSubmitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
      .pNext = &timeline,
      .commandBufferCount = static_cast<uint32_t>(batch.commands.size()),
      .pCommandBuffers = batch.commands.data(),
      .signalSemaphoreCount = 1,
      .pSignalSemaphores = &timeline_};
  const VkResult result = api_.QueueSubmit(queue_, 1, &info, VK_NULL_HANDLE);
  if (absl::Status s = fault_.Check(result, "vkQueueSubmit"); !s.ok()) return s;
  last_value_ = value;
  absl::MutexLock lock(&mu_);
  in_flight_.push_back({value, &lane, std::move(batch)});
  ++lane.submitted_;
  submitted_.Signal();
  return absl::OkStatus();
}

Batch DeviceQueue::Spare(LaneBatches& lane) {
  absl::MutexLock lock(&mu_);
  if (lane.spare_.empty()) return {};
  Batch batch = std::move(lane.spare_.back());
  lane.spare_.pop_back();
  return batch;
}

bool DeviceQueue::AwaitEnd(LaneBatches& lane, uint64_t remaining,
                           absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  const uint64_t target =
      lane.submitted_ > remaining ? lane.submitted_ - remaining : 0;
  while (lane.ended_ < target) {
    if (ended_.WaitWithDeadline(&mu_, deadline)) return lane.ended_ >= target;
  }
  return true;
}

uint64_t DeviceQueue::InFlight(LaneBatches& lane) {
  absl::MutexLock lock(&mu_);
  return lane.submitted_ - lane.ended_;
}

uint64_t DeviceQueue::AwaitValue(uint64_t value) {
  const VkSemaphoreWaitInfo info = {
      .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
      .semaphoreCount = 1,
      .pSemaphores = &timeline_,
      .pValues = &value};
  VkResult result = api_.WaitSemaphores(device_, &info, kWaitNs);
  uint64_t reached = 0;
  // A wait on a lost device may end well; the counter's answer need not.
  if (result >= 0) {
    result = api_.GetSemaphoreCounterValue(device_, timeline_, &reached);
  }
  if (result < 0) {
    fault_.Lose(result, "vkWaitSemaphores").IgnoreError();
    return 0;
  }
  return reached;
}

void DeviceQueue::Main() {
  absl::MutexLock lock(&mu_);
  while (true) {
    if (in_flight_.empty()) {
      if (is_closing_) return;
      submitted_.Wait(&mu_);
      continue;
    }
    const uint64_t value = in_flight_.front().value;
    mu_.Unlock();
    const uint64_t reached = AwaitValue(value);
    const bool is_lost = fault_.is_lost();
    if (is_lost) {
      // What is still running may touch what the batches keep.
      absl::MutexLock submit_lock(&submit_mu_);
      static_cast<void>(api_.DeviceWaitIdle(device_));
    }
    mu_.Lock();
    while (!in_flight_.empty() &&
           (is_lost || in_flight_.front().value <= reached)) {
      EndFirst(is_lost ? fault_.status() : absl::OkStatus());
    }
  }
}

void DeviceQueue::EndFirst(const absl::Status& status) {
  Submitted first = std::move(in_flight_.front());
  in_flight_.pop_front();
  Batch& batch = first.batch;
  mu_.Unlock();
  if (status.ok()) {
    for (const CopyOut& copy : batch.copy_outs) {
      std::memcpy(copy.destination.data(), copy.staged,
                  copy.destination.size());
    }
  }
  batch.copy_outs.clear();
  batch.owners.clear();
  batch.commands.clear();
  first.lane->staging_end_.store(batch.staging_end, std::memory_order_release);
  if (batch.completion != nullptr) batch.completion->Finish(status);
  batch.completion.reset();
  mu_.Lock();
  first.lane->spare_.push_back(std::move(batch));
  ++first.lane->ended_;
  ended_.SignalAll();
}

}  // namespace tensord::vulkan
