#ifndef TENSORD_ENGINE_MEMORY_HOST_STORAGE_H_
#define TENSORD_ENGINE_MEMORY_HOST_STORAGE_H_

#include <cstddef>
#include <memory>
#include <utility>

#include "absl/types/span.h"
#include "backends/api/storage.h"

namespace tensord {

// Host bytes that belong to somebody else, as a storage of a device whose
// kernels work in host memory.
//
// Threading: immutable. Ownership: keeps `owner`, if there is one; else the
// bytes are the caller's to keep.
class HostStorage final : public Storage {
 public:
  // Inputs are read-only to kernels, so the cast lends no more than the view of
  // an output does.
  HostStorage(DeviceId device, absl::Span<const std::byte> bytes,
              std::shared_ptr<const void> owner = nullptr)
      : Storage(device, const_cast<std::byte*>(bytes.data()), bytes.size(),
                /*is_host_addressable=*/true),
        owner_(std::move(owner)) {}

 private:
  const std::shared_ptr<const void> owner_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_MEMORY_HOST_STORAGE_H_
