#ifndef TENSORD_SERVER_TENSORS_RESIDENT_TENSOR_H_
#define TENSORD_SERVER_TENSORS_RESIDENT_TENSOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "backends/api/device_id.h"
#include "backends/api/dtype.h"
#include "backends/api/shape.h"
#include "engine/memory/buffer_pool.h"
#include "server/sessions/session.h"

namespace tensord {

// A tensor between runs. Its bytes are in host memory, whichever device it is
// said to be on: a device that addresses host memory uses them where they are,
// another copies them for each run. Who reads them goes through bytes(), so
// that bytes on a device can take their place.
//
// Threading: immutable but for the time of its last use.
// Ownership: shared by its table, by runs that use it and by downloads: its
//   bytes count for its session until the last of them lets go.
class ResidentTensor {
 public:
  struct Description {
    std::string id;
    DType dtype = DType::kUndefined;
    Shape shape;
    DeviceId device;
    absl::Time create_time;
    absl::Duration time_to_live;
    std::string content_sha256;  // 32 bytes; empty: not known
    std::string execution_id;    // that made it; empty: uploaded
  };

  ResidentTensor(Description description, std::shared_ptr<Session> session,
                 Session::Lease lease,
                 std::shared_ptr<const PooledBuffer> bytes)
      : description_(std::move(description)),
        session_(std::move(session)),
        lease_(std::move(lease)),
        bytes_(std::move(bytes)) {
    Touch(description_.create_time);
  }

  const std::string& id() const { return description_.id; }
  const Description& description() const { return description_; }
  const std::shared_ptr<Session>& session() const { return session_; }
  const std::shared_ptr<const PooledBuffer>& bytes() const { return bytes_; }
  uint64_t size_bytes() const { return bytes_->size(); }

  void Touch(absl::Time now) const {
    last_use_ns_.store(absl::ToUnixNanos(now), std::memory_order_relaxed);
  }
  absl::Time expire_time() const {
    return absl::FromUnixNanos(last_use_ns_.load(std::memory_order_relaxed)) +
           description_.time_to_live;
  }

 private:
  const Description description_;
  const std::shared_ptr<Session> session_;
  const Session::Lease lease_;
  const std::shared_ptr<const PooledBuffer> bytes_;
  mutable std::atomic<int64_t> last_use_ns_{0};
};

}  // namespace tensord

#endif  // TENSORD_SERVER_TENSORS_RESIDENT_TENSOR_H_
