#ifndef TENSORD_TESTS_ENGINE_TUNE_SIBLING_BACKEND_H_
#define TENSORD_TESTS_ENGINE_TUNE_SIBLING_BACKEND_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/api/backend.h"

namespace tensord {

// How one sibling behaves. Set by the test, read by the kernel's launches.
struct SiblingControl {
  std::atomic<int64_t> delay_us{0};  // a launch takes so much longer
  std::atomic<float> error{0};       // is added to every element
  std::atomic<int> failing{0};       // 1: run fails; 2: prepare fails
  std::atomic<int64_t> launches{0};
};

// The CPU's devices with a table of its own: three float32 siblings of Relu,
//   relu_first, relu_other, relu_portable
// each of which is as fast and as right as the test says.
//
// Threading: one of these at a time in a process, since kernels are plain
//   functions and their controls are global; the constructor resets them.
class SiblingBackend final : public Backend {
 public:
  static constexpr int kFirst = 0;
  static constexpr int kOther = 1;
  static constexpr int kPortable = 2;

  SiblingBackend();

  SiblingControl& control(int sibling);

  BackendId id() const override { return cpu_->id(); }
  absl::Span<const KernelEntry> kernels() const override;
  // Of the test's choice, so that it can play another build.
  uint64_t KernelRevision(absl::string_view) const override {
    return revision_;
  }
  void set_revision(uint64_t revision) { revision_ = revision; }
  int device_count() const override { return cpu_->device_count(); }
  std::string why_none() const override { return cpu_->why_none(); }
  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) override {
    return cpu_->OpenDevice(ordinal);
  }

 private:
  const std::unique_ptr<Backend> cpu_;
  uint64_t revision_ = 1;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_TUNE_SIBLING_BACKEND_H_
