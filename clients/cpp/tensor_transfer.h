#ifndef TENSORD_CLIENTS_CPP_TENSOR_TRANSFER_H_
#define TENSORD_CLIENTS_CPP_TENSOR_TRANSFER_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/time/time.h"
#include "tensord/v1/types.pb.h"

namespace tensord {

// Told after each chunk how many of the tensor's bytes are through. Goes back
// when an upload begins anew.
using TransferProgress =
    std::function<void(int64_t done_bytes, int64_t size_bytes)>;

struct UploadOptions {
  std::string session_id;  // empty: the connection's
  std::string device;      // a device, a backend, or empty: the daemon's choice
  // After its last use. Zero: the session's.
  absl::Duration time_to_live = absl::ZeroDuration();
  int64_t chunk_bytes = int64_t{1} << 20;
  // The daemon checks the SHA-256 of what arrives. One pass over the bytes
  // here, and one there.
  bool is_checked = true;
  TransferProgress progress;
};

struct DownloadOptions {
  int64_t chunk_bytes = int64_t{1} << 20;
  bool is_checked = true;
  TransferProgress progress;
};

// The content hash that TensorInfo.content_sha256 has: over dtype and dims as
// well as the bytes.
std::string ContentSha256(const v1::Tensor& tensor);

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_TENSOR_TRANSFER_H_
