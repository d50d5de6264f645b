#include "backends/cuda/cuda_backend.h"

#include <cuda_runtime_api.h>

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "backends/cuda/cuda_device.h"
#include "backends/cuda/cuda_status.h"
#include "backends/cuda/kernel_revisions.h"
#include "backends/cuda/kernel_table.h"
#include "backends/cuda/libraries/revision.h"

namespace tensord::cuda {
namespace {

// Why there is no device, in the words of an operator.
std::string WhyNone(cudaError_t error) {
  int driver = 0;
  const bool has_driver =
      cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0;
  if (error == cudaErrorInsufficientDriver && !has_driver) {
    return "no NVIDIA driver";
  }
  if (error == cudaErrorInsufficientDriver) {
    return absl::StrCat("the NVIDIA driver is for CUDA ", driver / 1000, ".",
                        driver % 1000 / 10, ", and ", CUDART_VERSION / 1000,
                        ".", CUDART_VERSION % 1000 / 10, " is needed");
  }
  if (error == cudaErrorNoDevice || error == cudaSuccess) {
    return "an NVIDIA driver, but no GPU";
  }
  return std::string(CudaStatus(error, "cudaGetDeviceCount").message());
}

class CudaBackend final : public Backend {
 public:
  explicit CudaBackend(const CudaOptions& options) : options_(options) {
    const cudaError_t error = cudaGetDeviceCount(&device_count_);
    if (error != cudaSuccess) device_count_ = 0;
    if (device_count_ == 0) why_none_ = WhyNone(error);
  }

  BackendId id() const override { return BackendId::kCuda; }
  absl::Span<const KernelEntry> kernels() const override {
    return CudaKernels();
  }
  uint64_t KernelRevision(absl::string_view source) const override {
    return absl::StartsWith(source, "library:") ? LibraryRevision(source)
                                                : CudaKernelRevision(source);
  }
  int device_count() const override { return device_count_; }
  std::string why_none() const override { return why_none_; }

  absl::StatusOr<std::unique_ptr<Device>> OpenDevice(int ordinal) override {
    if (ordinal < 0 || ordinal >= device_count_) {
      return absl::NotFoundError(
          absl::StrCat("device cuda:", ordinal, " is none of ", device_count_,
                       device_count_ == 0 ? ": " + why_none_ : ""));
    }
    auto device = CudaDevice::Open(
        DeviceId{BackendId::kCuda, static_cast<uint16_t>(ordinal)},
        options_.memory_limit_bytes);
    if (!device.ok()) return device.status();
    for (int peer = 0; peer < device_count_; ++peer) {
      if (peer != ordinal) (*device)->EnablePeer(peer);
    }
    return *std::move(device);
  }

 private:
  const CudaOptions options_;
  int device_count_ = 0;
  std::string why_none_;
};

}  // namespace

std::unique_ptr<Backend> MakeCudaBackend(const HostServices&,
                                         const CudaOptions& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace tensord::cuda
