#ifndef TENSORD_TESTS_SUPPORT_FAKE_BACKEND_H_
#define TENSORD_TESTS_SUPPORT_FAKE_BACKEND_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/api/backend.h"
#include "tests/support/fake_control.h"

namespace tensord {

struct FakeOptions {
  int device_count = 1;
  uint64_t memory_limit_bytes = uint64_t{1} << 28;
  // Whether Allocate()'s memory may be read by the host in place. Without it
  // tests see who forgets a copy: the capability says so, although the memory
  // is really the host's.
  bool is_host_addressable = false;
  bool records_programs = false;
  int max_lanes = 4;
  FakeLaneOrder lane_order = FakeLaneOrder::kOldestFirst;
  FakeDelivery delivery = FakeDelivery::kAsFinished;
};

// An asynchronous backend without hardware. Its few kernels really compute
// (Add, Mul, MatMul, Relu, Identity, NonZero; see fake_kernels.h), but only
// when the device's own thread comes to them, and the test decides when that
// is.
//
// It stands in for what cannot be had on demand: a device that is slow, hangs,
// faults, or finishes in another order. It also watches its user: freed memory
// is filled with 0xDD and kept until the device is closed, and work that comes
// to be executed after its storages or its kernel state were freed is counted
// (FakeCounts::dropped_in_flight) and faults the device.
//
// Threading and ownership: as Backend says. Two open devices of one ordinal are
//   refused (kFailedPrecondition), since one control stands for it.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(BackendId id, const FakeOptions& options = {});

  FakeControl& control(int ordinal) { return *controls_[ordinal]; }

  BackendId id() const override { return id_; }
  absl::Span<const KernelEntry> kernels() const override;
  // Not 0, and of no meaning: there is always one to report.
  uint64_t KernelRevision(absl::string_view source) const override;
  int device_count() const override { return options_.device_count; }
  std::string why_none() const override { return ""; }
  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) override;

 private:
  const BackendId id_;
  const FakeOptions options_;
  std::vector<std::unique_ptr<FakeControl>> controls_;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_FAKE_BACKEND_H_
