#include "backends/cuda/libraries/loaded_kernel.h"

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "backends/cuda/cuda_status.h"
#include "backends/cuda/current_device.h"
#include "backends/cuda/libraries/cubin_cache.h"

namespace tensord::cuda {
namespace {

struct Loaded {
  absl::Mutex mu;
  // By ordinal, name and text: short ones, where there are many.
  absl::flat_hash_map<std::string, std::weak_ptr<const LoadedKernel>> by_key
      ABSL_GUARDED_BY(mu);
};
Loaded& AllLoaded() {
  static auto* const loaded = new Loaded;
  return *loaded;
}

absl::StatusOr<std::string> ArchitectureOf(int ordinal) {
  int major = 0;
  int minor = 0;
  absl::Status status =
      CudaStatus(cudaDeviceGetAttribute(
                     &major, cudaDevAttrComputeCapabilityMajor, ordinal),
                 "cudaDeviceGetAttribute");
  if (status.ok()) {
    status = CudaStatus(cudaDeviceGetAttribute(
                            &minor, cudaDevAttrComputeCapabilityMinor, ordinal),
                        "cudaDeviceGetAttribute");
  }
  if (!status.ok()) return status;
  return absl::StrCat("sm_", major, minor);
}

}  // namespace

absl::StatusOr<std::shared_ptr<const LoadedKernel>> LoadedKernel::Load(
    const DeviceText& text, const char* name, int ordinal) {
  const std::string key = absl::StrCat(ordinal, " ", name, " ", text.text);
  Loaded& loaded = AllLoaded();
  {
    absl::MutexLock lock(&loaded.mu);
    if (auto it = loaded.by_key.find(key); it != loaded.by_key.end()) {
      if (std::shared_ptr<const LoadedKernel> kernel = it->second.lock()) {
        return kernel;
      }
    }
  }
  absl::StatusOr<std::string> architecture = ArchitectureOf(ordinal);
  if (!architecture.ok()) return architecture.status();
  static const auto* const cache = new CubinCache(CubinCache::DefaultFolder());
  absl::StatusOr<std::string> cubin = cache->Get(text, *architecture);
  if (!cubin.ok()) return cubin.status();

  absl::Status status = CudaStatus(MakeCurrent(ordinal), "cudaSetDevice");
  if (!status.ok()) return status;
  std::shared_ptr<LoadedKernel> kernel(new LoadedKernel);
  kernel->cubin_ = *std::move(cubin);
  status =
      CudaStatus(cudaLibraryLoadData(&kernel->library_, kernel->cubin_.data(),
                                     nullptr, nullptr, 0, nullptr, nullptr, 0),
                 "cudaLibraryLoadData");
  if (!status.ok()) return status;
  status =
      CudaStatus(cudaLibraryGetKernel(&kernel->kernel_, kernel->library_, name),
                 "cudaLibraryGetKernel");
  if (!status.ok()) return status;

  absl::MutexLock lock(&loaded.mu);
  absl::erase_if(loaded.by_key,
                 [](const auto& entry) { return entry.second.expired(); });
  loaded.by_key[key] = kernel;
  return kernel;
}

LoadedKernel::~LoadedKernel() {
  if (library_ != nullptr) (void)cudaLibraryUnload(library_);
}

absl::Status LoadedKernel::Launch(cudaStream_t stream, unsigned blocks,
                                  unsigned threads,
                                  absl::Span<void*> arguments) const {
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  return CudaStatus(
      cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel_),
                          arguments.data()),
      "cudaLaunchKernelExC");
}

}  // namespace tensord::cuda
