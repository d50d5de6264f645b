#include "tests/support/vulkan_devices.h"

#include <cstdio>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "backends/vulkan/vulkan_backend.h"

namespace tensord {
namespace {

struct Heard {
  absl::Mutex mu;
  std::vector<std::string> messages ABSL_GUARDED_BY(mu);
};

// Never destroyed: drivers speak up to the end of the process.
Heard& AllHeard() {
  static auto* const heard = new Heard;
  return *heard;
}

// Fails the test during which the layer said something, or a barrier was
// missing.
class FailsOnMessages final : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override {
    for (const std::string& message : ValidationMessages()) {
      ADD_FAILURE() << message;
    }
    ForgetValidationMessages();
    for (const auto& recording : VulkanJournal().Take()) {
      for (const std::string& hazard : vulkan::FindHazards(recording.entries)) {
        ADD_FAILURE() << hazard;
      }
    }
  }
};

void ListenOnce() {
  static const bool is_listening = [] {
    ::testing::UnitTest::GetInstance()->listeners().Append(new FailsOnMessages);
    return true;
  }();
  static_cast<void>(is_listening);
}

void Listen(absl::string_view message) {
  Heard& heard = AllHeard();
  absl::MutexLock lock(&heard.mu);
  heard.messages.emplace_back(message);
}

// Packages of setup.sh bring the layer; a machine with a GPU, where programs
// are only run, may lack it.
vulkan::ValidationListener ListenerIfAny() {
  static const bool has_layer = [] {
    const bool has =
        vulkan::MakeVulkanBackend(HostServices{}, {.validation = &Listen})
            ->device_count() > 0;
    if (!has) std::fputs("no Vulkan validation layer here\n", stderr);
    return has;
  }();
  if (!has_layer) return nullptr;
  return &Listen;
}

DeviceParam VulkanParam(int ordinal) {
  return {absl::StrCat("vulkan_", ordinal), ordinal,
          [](const HostServices& services, uint64_t memory_limit_bytes) {
            ListenOnce();
            return vulkan::MakeVulkanBackend(
                services, {.memory_limit_bytes = memory_limit_bytes,
                           .validation = ListenerIfAny(),
                           .journal = &VulkanJournal()});
          }};
}

}  // namespace

vulkan::CommandJournal& VulkanJournal() {
  static auto* const journal = new vulkan::CommandJournal;
  return *journal;
}

std::vector<DeviceParam> VulkanParams() {
  std::vector<DeviceParam> params;
  const int count = vulkan::MakeVulkanBackend(HostServices{})->device_count();
  for (int i = 0; i < count; ++i) params.push_back(VulkanParam(i));
  return params;
}

std::vector<std::string> ValidationMessages() {
  Heard& heard = AllHeard();
  absl::MutexLock lock(&heard.mu);
  return heard.messages;
}

void ForgetValidationMessages() {
  Heard& heard = AllHeard();
  absl::MutexLock lock(&heard.mu);
  heard.messages.clear();
}

}  // namespace tensord
