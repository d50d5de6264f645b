// Drivers that are absent, broken or lose their device.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/vulkan/vulkan_backend.h"
#include "backends/vulkan/vulkan_device.h"
#include "tests/support/backend_test.h"
#include "tests/support/broken_vulkan.h"
#include "tests/support/matchers.h"
#include "tests/support/vulkan_devices.h"

namespace tensord::vulkan {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<Backend> MakeBackend() {
  return MakeVulkanBackend(HostServices{}, {.loader = BrokenVulkan::loader()});
}

TEST(VulkanDriver, WithoutALoaderThereIsNone) {
  const auto empty = [](VkInstance, const char*) -> PFN_vkVoidFunction {
    return nullptr;
  };
  auto backend = MakeVulkanBackend(HostServices{}, {.loader = empty});
  EXPECT_EQ(backend->device_count(), 0);
  EXPECT_THAT(backend->why_none(), HasSubstr("lacks vkCreateInstance"));
  EXPECT_THAT(backend->OpenDevice(0),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("vulkan:0")));
}

TEST(VulkanDriver, WithoutADriverThereAreNoDevices) {
  const BrokenVulkan broken;
  BrokenVulkan::create_instance = VK_ERROR_INCOMPATIBLE_DRIVER;
  auto backend = MakeBackend();
  EXPECT_EQ(backend->device_count(), 0);
  EXPECT_EQ(backend->why_none(), "no Vulkan driver");
}

TEST(VulkanDriver, AnErrorAtTheStartIsNamed) {
  const BrokenVulkan broken;
  BrokenVulkan::create_instance = VK_ERROR_OUT_OF_HOST_MEMORY;
  EXPECT_THAT(MakeBackend()->why_none(),
              HasSubstr("vkCreateInstance: VK_ERROR_OUT_OF_HOST_MEMORY"));
}

TEST(VulkanDriver, AFunctionThatItLacksIsNamed) {
  const BrokenVulkan broken;
  BrokenVulkan::missing = "vkGetPhysicalDeviceFeatures2";
  EXPECT_THAT(MakeBackend()->why_none(),
              HasSubstr("lacks vkGetPhysicalDeviceFeatures2"));
  BrokenVulkan::missing = "vkWaitSemaphores";
  EXPECT_THAT(MakeBackend()->OpenDevice(0),
              StatusIs(absl::StatusCode::kUnavailable,
                       HasSubstr("lacks vkWaitSemaphores")));
}

TEST(VulkanDriver, ADeviceThatDoesNotOpenIsAnError) {
  const BrokenVulkan broken;
  BrokenVulkan::create_device = VK_ERROR_INITIALIZATION_FAILED;
  EXPECT_THAT(MakeBackend()->OpenDevice(0),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("VK_ERROR_INITIALIZATION_FAILED")));
}

TEST(VulkanDriver, SoftwareIsNamedAndTakenOnlyWhereItIsAlone) {
  PhysicalDevice software;
  software.type = VK_PHYSICAL_DEVICE_TYPE_CPU;
  software.name = "software";
  PhysicalDevice card;
  card.type = VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
  card.name = "card";
  const std::vector<PhysicalDevice> both = ChooseDevices({software, card});
  ASSERT_EQ(both.size(), 1u);
  EXPECT_EQ(both[0].name, "card");
  const std::vector<PhysicalDevice> alone = ChooseDevices({software});
  ASSERT_EQ(alone.size(), 1u);
  const DeviceId id = {BackendId::kVulkan, 0};
  EXPECT_THAT(InfoOf(software, id, 0).description,
              HasSubstr("a software driver"));
}

// A lane with work in flight on a device that can be lost.
class VulkanFault : public ::testing::Test {
 protected:
  void EnqueueCopy(Lane& lane) {
    ASSERT_THAT(lane.CopyToDevice(host_, WholeOf(*storage_)), IsOk());
  }
  static auto IsLost() {
    return StatusIs(absl::StatusCode::kUnavailable,
                    HasSubstr("device vulkan:0 is lost: "));
  }

  const BrokenVulkan broken_;
  const std::vector<std::byte> host_ = PatternBytes(1 << 16);
  std::unique_ptr<Backend> backend_ = MakeBackend();
  std::unique_ptr<Device> device_ = backend_->OpenDevice(0).value();
  std::unique_ptr<Storage> storage_ = device_->Allocate(1 << 16).value();
  std::unique_ptr<Lane> lane_ = device_->CreateLane().value();
};

TEST_F(VulkanFault, ALossWhileWorkRunsReachesEverybodyWhoWaits) {
  std::unique_ptr<Lane> other = device_->CreateLane().value();
  BrokenVulkan::wait_semaphores = VK_TIMEOUT;
  std::vector<CompletionHandle> handles;
  for (int i = 0; i < 32; ++i) {
    for (Lane* lane : {lane_.get(), other.get()}) {
      EnqueueCopy(*lane);
      handles.push_back(lane->RecordCompletion().value());
    }
  }
  BrokenVulkan::wait_semaphores = VK_ERROR_DEVICE_LOST;
  for (const CompletionHandle& handle : handles) {
    EXPECT_THAT(handle.WaitUntil(absl::InfiniteFuture()), IsLost());
  }
  EXPECT_THAT(device_->health(), IsLost());
}

TEST_F(VulkanFault, ALossAtASubmissionStays) {
  EnqueueCopy(*lane_);
  BrokenVulkan::queue_submit = VK_ERROR_DEVICE_LOST;
  EXPECT_THAT(lane_->RecordCompletion(), IsLost());
  BrokenVulkan::queue_submit = VK_SUCCESS;
  const StorageView view = WholeOf(*storage_);
  std::vector<std::byte> host(1 << 16);
  EXPECT_THAT(lane_->CopyToDevice(host, view), IsLost());
  EXPECT_THAT(lane_->CopyToHost(view, absl::MakeSpan(host)), IsLost());
  EXPECT_THAT(lane_->Copy(view, view), IsLost());
  EXPECT_THAT(lane_->RecordCompletion(), IsLost());
  EXPECT_THAT(lane_->Drain(absl::InfiniteFuture()), IsLost());
  EXPECT_THAT(device_->Allocate(1), IsLost());
  EXPECT_THAT(device_->CreateLane(), IsLost());
}

TEST_F(VulkanFault, ALostDeviceLetsGoOfWhatWasRetained) {
  auto owner = std::make_shared<int>(1);
  std::weak_ptr<int> watch = owner;
  EnqueueCopy(*lane_);
  lane_->Retain(std::move(owner));
  CompletionHandle handle = lane_->RecordCompletion().value();
  BrokenVulkan::wait_semaphores = VK_ERROR_DEVICE_LOST;
  handle.WaitUntil(absl::InfiniteFuture()).IgnoreError();
  lane_.reset();
  EXPECT_TRUE(watch.expired());
}

TEST_F(VulkanFault, ADeviceServesAgainWhenItIsOpenedAnew) {
  BrokenVulkan::queue_submit = VK_ERROR_DEVICE_LOST;
  EnqueueCopy(*lane_);
  EXPECT_THAT(lane_->RecordCompletion(), IsLost());
  lane_.reset();
  storage_.reset();
  device_.reset();
  BrokenVulkan::queue_submit = VK_SUCCESS;
  device_ = backend_->OpenDevice(0).value();
  storage_ = device_->Allocate(1 << 16).value();
  lane_ = device_->CreateLane().value();
  EnqueueCopy(*lane_);
  EXPECT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
}

TEST_F(VulkanFault, WithoutMemoryASubmissionFailsAndCanBeMadeAgain) {
  EnqueueCopy(*lane_);
  BrokenVulkan::queue_submit = VK_ERROR_OUT_OF_HOST_MEMORY;
  EXPECT_THAT(lane_->RecordCompletion(),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasSubstr("vkQueueSubmit")));
  EXPECT_THAT(device_->health(), IsOk());
  BrokenVulkan::queue_submit = VK_SUCCESS;
  std::vector<std::byte> back(host_.size());
  ASSERT_THAT(lane_->CopyToHost(WholeOf(*storage_), absl::MakeSpan(back)),
              IsOk());
  EXPECT_THAT(lane_->Drain(absl::InfiniteFuture()), IsOk());
  EXPECT_EQ(back, host_);
}

// Without it a silent layer would pass for a program without errors.
TEST(VulkanValidation, TheListenerHears) {
  std::vector<std::string> heard;
  auto instance = VulkanInstance::Create(
      SystemLoader(),
      [&heard](absl::string_view message) { heard.emplace_back(message); });
  ASSERT_THAT(instance, IsOk());
  const PhysicalDevice& gpu = (*instance)->devices().at(0);
  auto device = LogicalDevice::Create(*instance, gpu);
  ASSERT_THAT(device, IsOk());
  const VulkanApi& api = (*device)->api();
  // Its address is asked for, and its usage does not say so.
  const VkBufferCreateInfo info = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .size = 64,
      .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
  VkBuffer buffer = VK_NULL_HANDLE;
  ASSERT_EQ(api.CreateBuffer((*device)->handle(), &info, nullptr, &buffer),
            VK_SUCCESS);
  EXPECT_THAT(heard, ::testing::IsEmpty());
  const VkBufferDeviceAddressInfo address = {
      .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer};
  api.GetBufferDeviceAddress((*device)->handle(), &address);
  EXPECT_THAT(heard, ::testing::Contains(
                         HasSubstr("VkBufferDeviceAddressInfo-buffer-02601")));
  api.DestroyBuffer((*device)->handle(), buffer, nullptr);
}

}  // namespace
}  // namespace tensord::vulkan
