#include "backends/cpu/cpu_backend.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_device.h"
#include "backends/cpu/cpu_identity.h"
#include "backends/cpu/host_memory.h"
#include "backends/cpu/kernel_revisions.h"
#include "backends/cpu/kernel_table.h"
#if TENSORD_HAVE_ONEDNN
#include "backends/cpu/onednn/revision.h"
#endif

namespace tensord {
namespace {

// Ordinals are for tests of several devices; the hardware is one.
constexpr int kOrdinalLimit = 64;

class CpuBackend final : public Backend {
 public:
  CpuBackend(const HostServices& services, const CpuOptions& options)
      : thread_count_(services.workers->concurrency()),
        memory_limit_bytes_(options.memory_limit_bytes != 0
                                ? options.memory_limit_bytes
                                : HostMemoryLimitBytes()),
        host_memory_(options.host_memory),
        identity_(ReadCpuIdentity(thread_count_)) {}

  BackendId id() const override { return BackendId::kCpu; }

  absl::Span<const KernelEntry> kernels() const override {
    return CpuKernels();
  }

  uint64_t KernelRevision(absl::string_view source) const override {
#if TENSORD_HAVE_ONEDNN
    if (source == onednn::kSource) return onednn::SourceRevision();
#endif
    return CpuKernelRevision(source);
  }

  int device_count() const override { return 1; }
  std::string why_none() const override { return ""; }

  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) override {
    if (ordinal < 0 || ordinal >= kOrdinalLimit) {
      return absl::NotFoundError(absl::StrCat(
          "device cpu:", ordinal, " is not below cpu:", kOrdinalLimit));
    }
    return std::make_unique<CpuDevice>(
        DeviceId{BackendId::kCpu, static_cast<uint16_t>(ordinal)}, identity_,
        thread_count_, memory_limit_bytes_, host_memory_);
  }

 private:
  const int thread_count_;
  const uint64_t memory_limit_bytes_;
  HostMemoryBudget* const host_memory_;
  const CpuIdentity identity_;
};

}  // namespace

std::unique_ptr<Backend> MakeCpuBackend(const HostServices& services,
                                        const CpuOptions& options) {
  return std::make_unique<CpuBackend>(services, options);
}

}  // namespace tensord
