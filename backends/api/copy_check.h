#ifndef TENSORD_BACKENDS_API_COPY_CHECK_H_
#define TENSORD_BACKENDS_API_COPY_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "backends/api/device_id.h"
#include "backends/api/storage.h"

namespace tensord {

// What every lane checks before it moves a byte. A copy that writes past its
// end cannot be found afterwards, so the check stands at the primitive and
// not with its callers; each violation is a bug of the engine (kInternal).
//
// Threading and ownership: pure functions of values.

// OK when `view` is present, on `device` and inside its storage, and is of
// `host_bytes` bytes.
absl::Status CheckHostCopy(DeviceId device, uint64_t host_bytes,
                           StorageView view);

// OK when both views are such, and of one size.
absl::Status CheckDeviceCopy(DeviceId device, StorageView source,
                             StorageView destination);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_COPY_CHECK_H_
