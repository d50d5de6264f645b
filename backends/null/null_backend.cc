#include "backends/null/null_backend.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/null/null_device.h"
#include "backends/null/null_kernels.h"

namespace tensord {
namespace {

// Ordinals are for tests of several devices.
constexpr int kOrdinalLimit = 64;

class NullBackend final : public Backend {
 public:
  explicit NullBackend(const NullOptions& options) : options_(options) {}

  BackendId id() const override { return BackendId::kNull; }
  absl::Span<const KernelEntry> kernels() const override {
    return NullKernels();
  }
  // There is no code whose revision could change a result.
  uint64_t KernelRevision(absl::string_view) const override { return 0; }
  int device_count() const override { return 1; }
  std::string why_none() const override { return ""; }

  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) override {
    if (ordinal < 0 || ordinal >= kOrdinalLimit) {
      return absl::NotFoundError(absl::StrCat(
          "device null:", ordinal, " is not below null:", kOrdinalLimit));
    }
    return std::make_unique<NullDevice>(
        DeviceId{BackendId::kNull, static_cast<uint16_t>(ordinal)},
        options_.memory_limit_bytes);
  }

 private:
  const NullOptions options_;
};

}  // namespace

std::unique_ptr<Backend> MakeNullBackend(const HostServices&,
                                         const NullOptions& options) {
  return std::make_unique<NullBackend>(options);
}

}  // namespace tensord
