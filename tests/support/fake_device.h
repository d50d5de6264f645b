#ifndef TENSORD_TESTS_SUPPORT_FAKE_DEVICE_H_
#define TENSORD_TESTS_SUPPORT_FAKE_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/backend.h"
#include "backends/api/memory_budget.h"
#include "tests/support/fake_backend.h"
#include "tests/support/fake_control.h"

namespace tensord {

// The parts behind FakeBackend. Threading, ownership and errors: as
// backends/api says.

class FakeDevice final : public Device {
 public:
  // Claims the control for one device; false when another has it.
  static bool TryOpen(FakeControl& control, DeviceId id);

  FakeDevice(DeviceId id, const FakeOptions& options, FakeControl& control);
  ~FakeDevice() override;

  FakeControl& control() { return control_; }

  const DeviceInfo& info() const override { return info_; }
  absl::StatusOr<std::unique_ptr<Storage>> Allocate(
      uint64_t size_bytes) override;
  absl::StatusOr<std::unique_ptr<Storage>> AllocateHostVisible(
      uint64_t size_bytes) override;
  absl::StatusOr<std::unique_ptr<Storage>> ImportHostMemory(
      absl::Span<const std::byte> bytes,
      std::shared_ptr<const void> owner) override;
  absl::StatusOr<std::unique_ptr<Lane>> CreateLane() override;
  uint64_t allocated_bytes() const override { return budget_.used_bytes(); }
  absl::Status health() const override { return control_.health(); }

  // Prepared state for a kernel, after the test's hook.
  absl::StatusOr<std::unique_ptr<KernelState>> Prepare(const NodeSite& site);

 private:
  friend class FakeStorage;

  absl::StatusOr<std::unique_ptr<Storage>> AllocateAs(uint64_t size_bytes,
                                                      bool is_host_addressable);
  // Fills with 0xDD and keeps, up to a bound, so that a late reader sees that.
  void Bury(std::byte* address, uint64_t size_bytes);

  const DeviceInfo info_;
  FakeControl& control_;
  MemoryBudget budget_;
  absl::Mutex graveyard_mu_;
  std::vector<std::pair<std::byte*, uint64_t>> graveyard_
      ABSL_GUARDED_BY(graveyard_mu_);
  uint64_t buried_bytes_ ABSL_GUARDED_BY(graveyard_mu_) = 0;
  std::thread thread_;
};

class FakeStorage final : public Storage {
 public:
  FakeStorage(FakeDevice& device, std::byte* address, uint64_t size_bytes,
              bool is_host_addressable);
  ~FakeStorage() override;

  uint64_t serial() const { return serial_; }

 private:
  FakeDevice& device_;
  const uint64_t serial_;
};

class FakeKernelState final : public KernelState {
 public:
  explicit FakeKernelState(FakeControl& control);
  ~FakeKernelState() override;

  uint64_t serial() const { return serial_; }

 private:
  FakeControl& control_;
  const uint64_t serial_;
};

// What a lane recorded.
class FakeProgram final : public Program {
 public:
  FakeProgram(FakeControl& control, std::vector<FakeOperation> operations);
  ~FakeProgram() override;

  uint64_t serial() const { return serial_; }
  const std::vector<FakeOperation>& operations() const { return operations_; }

 private:
  FakeControl& control_;
  const uint64_t serial_;
  const std::vector<FakeOperation> operations_;
};

class FakeLane final : public Lane {
 public:
  using Compute = absl::Status (*)(const FakeCall& call);

  FakeLane(DeviceId device, FakeControl& control, bool records_programs);
  ~FakeLane() override;

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

  // What a kernel's `run` does: copies the operands and returns.
  absl::Status Launch(OpKind op, const char* kernel, const KernelCall& call,
                      Compute compute);

 private:
  absl::Status EnqueueCopy(std::byte* destination, const std::byte* source,
                           uint64_t size_bytes, std::vector<uint64_t> uses);
  // To the device, or into the recording.
  absl::Status Take(FakeOperation operation);
  // While it records: the recording fails, and so does the call.
  absl::Status RefuseWhileRecording(const char* what);

  FakeControl& control_;
  const int lane_index_;
  const bool records_programs_;
  bool is_recording_ = false;
  absl::Status recording_status_;
  std::vector<FakeOperation> recording_;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_FAKE_DEVICE_H_
