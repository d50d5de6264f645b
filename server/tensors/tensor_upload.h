#ifndef TENSORD_SERVER_TENSORS_TENSOR_UPLOAD_H_
#define TENSORD_SERVER_TENSORS_TENSOR_UPLOAD_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "backends/api/device_id.h"
#include "backends/api/dtype.h"
#include "backends/api/shape.h"
#include "engine/memory/buffer_pool.h"
#include "server/sessions/session.h"
#include "server/sessions/sha256.h"

namespace tensord {

// The content hash of a tensor, as TensorInfo.content_sha256 says: begun with
// dtype and shape, to be followed by the bytes.
void AddTensorHead(DType dtype, const Shape& shape, Sha256& sha);

// A tensor on its way in: room for all of it, and what has arrived.
//
// Threading: one thread at a time, but for received().
// Ownership: owns the bytes and their part of the session's.
class TensorUpload {
 public:
  struct Header {
    DType dtype = DType::kUndefined;
    Shape shape;
    uint64_t size_bytes = 0;
    std::string data_sha256;  // declared, 32 bytes; empty: not to be checked
    DeviceId device;
    std::optional<absl::Duration> time_to_live;

    bool operator==(const Header& other) const;
  };

  TensorUpload(Header header, Session::Lease lease, PooledBuffer bytes);

  const Header& header() const { return header_; }
  uint64_t received() const {
    return received_.load(std::memory_order_acquire);
  }
  uint64_t missing() const { return header_.size_bytes - received(); }

  // Where the next bytes belong: room for missing() of them.
  std::byte* next() { return bytes_.data() + received(); }
  // So many were put there.
  void Advance(size_t count);

  // kInvalidArgument when bytes are missing; HASH_MISMATCH.
  absl::Status CheckComplete();

  // Once complete.
  std::string content_sha256();
  Session::Lease TakeLease() { return std::move(lease_); }
  PooledBuffer TakeBytes() { return std::move(bytes_); }

 private:
  const Header header_;
  Session::Lease lease_;
  PooledBuffer bytes_;
  std::atomic<uint64_t> received_{0};
  Sha256 data_sha_;     // used when one is declared
  Sha256 content_sha_;  // with the head
};

}  // namespace tensord

#endif  // TENSORD_SERVER_TENSORS_TENSOR_UPLOAD_H_
