#include "tests/support/fake_backend.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "tests/support/fake_device.h"
#include "tests/support/fake_kernels.h"

namespace tensord {

FakeBackend::FakeBackend(BackendId id, const FakeOptions& options)
    : id_(id), options_(options) {
  for (int i = 0; i < options.device_count; ++i) {
    controls_.push_back(
        std::make_unique<FakeControl>(options.lane_order, options.delivery));
  }
}

absl::Span<const KernelEntry> FakeBackend::kernels() const {
  return FakeKernels();
}

uint64_t FakeBackend::KernelRevision(absl::string_view source) const {
  return absl::HashOf(source) | 1;
}

absl::StatusOr<std::unique_ptr<Device>> FakeBackend::OpenDevice(int ordinal) {
  const DeviceId id{id_, static_cast<uint16_t>(ordinal)};
  if (ordinal < 0 || ordinal >= options_.device_count) {
    return absl::NotFoundError(absl::StrCat("device ", BackendName(id_), ":",
                                            ordinal, " is not among ",
                                            options_.device_count, " devices"));
  }
  FakeControl& control = *controls_[ordinal];
  if (!FakeDevice::TryOpen(control, id)) {
    return absl::FailedPreconditionError(
        absl::StrCat("device ", id.ToString(), " is open already"));
  }
  return std::make_unique<FakeDevice>(id, options_, control);
}

}  // namespace tensord
