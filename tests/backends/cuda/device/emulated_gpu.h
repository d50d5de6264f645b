#ifndef TENSORD_TESTS_BACKENDS_CUDA_DEVICE_EMULATED_GPU_H_
#define TENSORD_TESTS_BACKENDS_CUDA_DEVICE_EMULATED_GPU_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/api/backend.h"
#include "backends/cuda/cuda_backend.h"
#include "backends/cuda/emulation/control.h"
#include "tests/support/backend_test.h"
#include "tests/support/matchers.h"

namespace tensord::cuda {

// cuda:1 of two emulated GPUs, and a lane of it; the other one is there so that
// a mix-up shows.
class EmulatedGpuTest : public ::testing::Test {
 protected:
  static constexpr int kGpu = 1;

  EmulatedGpuTest() {
    emulation::Reset();
    Open();
  }
  ~EmulatedGpuTest() override {
    emulation::Resume(kGpu);
    Close();
    emulation::Reset();
  }

  void Open() {
    backend_ = MakeCudaBackend(TestHostServices());
    device_ = backend_->OpenDevice(kGpu).value();
    lane_ = device_->CreateLane().value();
  }
  void Close() {
    lane_.reset();
    device_.reset();
    backend_.reset();
  }

  Backend& backend() { return *backend_; }
  Device& device() { return *device_; }
  Lane& lane() { return *lane_; }
  emulation::Counts counts() { return emulation::CountsOf(kGpu); }

  std::unique_ptr<Storage> Allocate(uint64_t size_bytes) {
    return device_->Allocate(size_bytes).value();
  }
  std::unique_ptr<Storage> Upload(const std::vector<std::byte>& bytes) {
    std::unique_ptr<Storage> storage = Allocate(bytes.size());
    EXPECT_THAT(lane_->CopyToDevice(bytes, WholeOf(*storage)), IsOk());
    return storage;
  }
  std::vector<std::byte> Download(const Storage& storage) {
    std::vector<std::byte> bytes(storage.size_bytes());
    EXPECT_THAT(lane_->CopyToHost(WholeOf(storage), absl::MakeSpan(bytes)),
                IsOk());
    Finish();
    return bytes;
  }
  void Finish() {
    EXPECT_THAT(
        lane_->RecordCompletion().value().WaitUntil(absl::InfiniteFuture()),
        IsOk());
  }

  // Launches the kernel of Identity on bytes.
  absl::Status LaunchIdentity(const Storage& x, const Storage& y) {
    const TestNode node = {
        .op = OpKind::kIdentity,
        .inputs = {{DType::kUInt8, Shape({1}), {std::byte{0}}}},
        .outputs = {{DType::kUInt8, Shape({1})}}};
    const LaunchContext context = {.lane = lane_.get()};
    const StorageView inputs[] = {WholeOf(x)};
    const StorageView outputs[] = {WholeOf(y)};
    const Layout layout =
        Layout::Contiguous(Shape({static_cast<int64_t>(x.size_bytes())}));
    const Layout layouts[] = {layout, layout};
    return KernelsFor(*backend_, node)
        .at(0)
        ->run({context, inputs, outputs, layouts, node.params, nullptr});
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Lane> lane_;
};

}  // namespace tensord::cuda

#endif  // TENSORD_TESTS_BACKENDS_CUDA_DEVICE_EMULATED_GPU_H_
