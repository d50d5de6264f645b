#ifndef TENSORD_TESTS_SUPPORT_FAKE_OPERATION_H_
#define TENSORD_TESTS_SUPPORT_FAKE_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "backends/api/completion.h"
#include "backends/api/kernel.h"

namespace tensord {

// What a fake device's lanes hold. Plain data; FakeControl guards it.

// Which launch this is, for hooks.
struct FakeLaunchInfo {
  OpKind op;
  const char* kernel;
  int lane_index = 0;
  int64_t launch_index = 0;  // of the device, from 0
};

// A launch's operands, copied when it was enqueued: what a real driver does
// with kernel arguments. Addresses are taken then too, since by the time of the
// execution a careless caller's Storage objects may be gone.
struct FakeCall {
  std::vector<std::byte*> inputs;  // null: absent
  std::vector<uint64_t> input_bytes;
  std::vector<std::byte*> outputs;
  std::vector<Layout> layouts;
  OpParams params;
  std::byte* workspace = nullptr;
  int64_t* extent_cells = nullptr;

  const Layout& input_layout(int i) const { return layouts[i]; }
  const Layout& output_layout(int i) const {
    return layouts[inputs.size() + i];
  }
  template <typename T>
  const T* input(int i) const {
    return reinterpret_cast<const T*>(inputs[i]) + layouts[i].offset;
  }
  template <typename T>
  T* output(int i) const {
    return reinterpret_cast<T*>(outputs[i]) + output_layout(i).offset;
  }
};

struct FakeOperation {
  enum class Kind { kLaunch, kCopy, kCompletion, kRetain, kTimeMark };

  Kind kind = Kind::kCopy;
  std::function<absl::Status()> work;  // launches and copies
  std::vector<uint64_t> uses;          // serials that must be alive then
  FakeLaunchInfo launch = {};          // launches
  std::shared_ptr<HostCompletion> completion;
  std::shared_ptr<const void> owner;  // retained
  int time_mark = 0;
  int64_t sequence = 0;  // over all lanes of the device

  bool is_work() const { return kind == Kind::kLaunch || kind == Kind::kCopy; }
};

// A completion whose work is done, on its way to being ready.
struct FakeFinished {
  std::shared_ptr<HostCompletion> completion;
  absl::Status status;
  DeviceTimestamps timestamps;
};

struct FakeLaneQueue {
  std::deque<FakeOperation> operations;
  bool is_executing = false;
  bool is_removed = false;
  int permits = 0;  // work that Step() lets pass

  // The device's clock at each time mark; nothing until the lane passes it.
  std::vector<std::optional<int64_t>> time_marks;

  // When the first work since the last completion began, on the device's clock.
  std::optional<int64_t> start_ns;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_FAKE_OPERATION_H_
