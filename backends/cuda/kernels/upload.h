#ifndef TENSORD_BACKENDS_CUDA_KERNELS_UPLOAD_H_
#define TENSORD_BACKENDS_CUDA_KERNELS_UPLOAD_H_

#include <cstddef>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/storage.h"

namespace tensord::cuda {

// A storage of the device with these bytes, for what a kernel packs ahead of
// its runs. Waits for the copy, so it is for `prepare` alone.
absl::StatusOr<std::unique_ptr<Storage>> Upload(
    Device& device, absl::Span<const std::byte> bytes);

}  // namespace tensord::cuda

#endif  // TENSORD_BACKENDS_CUDA_KERNELS_UPLOAD_H_
