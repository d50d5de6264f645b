#include "server/config/device_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tensord {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The devices of these words on a machine with so many GPUs, as text.
absl::StatusOr<std::vector<std::string>> Resolve(
    const std::vector<std::string>& words, int gpus) {
  std::vector<DeviceSelection> selections;
  for (const std::string& word : words) {
    const auto selected = SelectDevices(word);
    if (!selected.has_value()) return absl::InvalidArgumentError(word);
    selections.insert(selections.end(), selected->begin(), selected->end());
  }
  const auto count = [gpus](BackendId id) {
    return id == BackendId::kCuda ? DeviceCount{gpus, "no driver"}
                                  : DeviceCount{1, ""};
  };
  absl::StatusOr<std::vector<DeviceId>> ids = ResolveDevices(selections, count);
  if (!ids.ok()) return ids.status();
  std::vector<std::string> names;
  for (const DeviceId id : *ids) names.push_back(id.ToString());
  return names;
}

TEST(DeviceSelection, ABackendAloneIsAllOfItsDevices) {
  EXPECT_THAT(Resolve({"cuda"}, 2).value(), ElementsAre("cuda:0", "cuda:1"));
  EXPECT_THAT(Resolve({"null:1", "cpu"}, 2).value(),
              ElementsAre("null:1", "cpu:0"));
}

TEST(DeviceSelection, AutoIsTheCpuAndEveryGpuThatThereIs) {
  EXPECT_THAT(Resolve({"auto"}, 0).value(), ElementsAre("cpu:0"));
  EXPECT_THAT(Resolve({"auto"}, 2).value(),
              ElementsAre("cpu:0", "cuda:0", "cuda:1"));
}

TEST(DeviceSelection, WhatWasAskedForMustBeThere) {
  for (const std::string word : {"cuda", "cuda:0"}) {
    const auto devices = Resolve({word}, 0);
    EXPECT_EQ(devices.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(devices.status().message()),
                HasSubstr("--devices: there is no '" + word + "': no driver"));
  }
}

TEST(DeviceSelection, ADeviceThatComesTwiceIsRefused) {
  const auto devices = Resolve({"cuda:1", "cuda"}, 2);
  EXPECT_EQ(devices.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(devices.status().message()), HasSubstr("'cuda:1'"));
}

TEST(DeviceSelection, OtherWordsAreNone) {
  for (const std::string word :
       {"", "gpu", "cpu:", "cpu:x", "cpu:-1", "cpu:0:1", "cpu:65536", "Auto"}) {
    EXPECT_EQ(SelectDevices(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace tensord
