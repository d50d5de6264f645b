#include "server/rpc/tensor_upload_header.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/limit_exceeded.h"
#include "server/errors/error_details.h"
#include "server/rpc/device_names.h"
#include "server/rpc/time_messages.h"
#include "server/wire/tensor_check.h"

namespace tensord {
namespace {

constexpr absl::string_view kName = "upload";
constexpr size_t kMaxUploadIdBytes = 128;

// The device that the tensor is said to be on: the first that was asked for;
// there is one.
DeviceId ChooseDevice(const Engine& engine, const DeviceWish& wish) {
  const std::vector<DeviceStatus> devices = engine.Devices();
  for (const DeviceStatus& status : devices) {
    if (wish.Allows(status.info.id)) return status.info.id;
  }
  return devices.front().info.id;
}

absl::Status CheckSize(const v1::UploadTensorHeader& message, uint64_t size,
                       int64_t max_upload_bytes) {
  if (message.size_bytes() != 0 &&
      static_cast<uint64_t>(message.size_bytes()) != size) {
    return BadField(
        "header.size_bytes",
        absl::StrCat(message.size_bytes(), ", and dtype and dims give ", size));
  }
  if (size > static_cast<uint64_t>(max_upload_bytes)) {
    LimitDetails details;
    details.limit = "max_upload_bytes";
    details.maximum = max_upload_bytes;
    details.requested = static_cast<int64_t>(size);
    details.unit = "bytes";
    details.scope = "upload";
    return details.ToStatus(absl::StrCat("an upload of ", size, " bytes"));
  }
  return absl::OkStatus();
}

absl::Status CheckUploadId(const v1::UploadTensorHeader& message) {
  if (message.upload_id().size() > kMaxUploadIdBytes) {
    return BadField("header.upload_id",
                    absl::StrCat(message.upload_id().size(),
                                 " bytes; give at most ", kMaxUploadIdBytes));
  }
  if (!message.upload_id().empty() && message.session_id().empty()) {
    return BadField("header.upload_id", "it needs session_id");
  }
  if (message.offset_bytes() < 0 ||
      (message.offset_bytes() > 0 && message.upload_id().empty())) {
    return BadField("header.offset_bytes",
                    absl::StrCat(message.offset_bytes(),
                                 "; give 0 or more, and upload_id"));
  }
  if (!message.data_sha256().empty() &&
      message.data_sha256().size() != sizeof(Sha256Digest)) {
    return BadField(
        "header.data_sha256",
        absl::StrCat(message.data_sha256().size(), " bytes; a SHA-256 has 32"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<TensorUpload::Header> ReadUploadHeader(
    const v1::UploadTensorHeader& message,
    const ServiceEnvironment& environment) {
  const GraphLimits& limits = environment.config.engine.limits;
  TensorUpload::Header header;
  TENSORD_ASSIGN_OR_RETURN(
      header.dtype,
      CheckedDType(kName, static_cast<uint64_t>(message.dtype())));
  if (message.dims_size() > limits.max_rank) {
    return LimitExceeded("a tensor", message.dims_size(), "dims", "max_rank",
                         limits.max_rank);
  }
  const Dims dims(message.dims().begin(), message.dims().end());
  TENSORD_ASSIGN_OR_RETURN(header.shape,
                           CheckedShape(kName, dims, limits.max_elements));
  header.size_bytes = ByteSize(header.dtype, header.shape.element_count());
  TENSORD_RETURN_IF_ERROR(CheckSize(message, header.size_bytes,
                                    environment.config.max_upload_bytes));
  TENSORD_RETURN_IF_ERROR(CheckUploadId(message));
  header.data_sha256 = message.data_sha256();
  TENSORD_ASSIGN_OR_RETURN(const DeviceWish wish,
                           FindDevice(environment.engine, message.device()));
  header.device = ChooseDevice(environment.engine, wish);
  if (message.has_time_to_live()) {
    TENSORD_ASSIGN_OR_RETURN(
        header.time_to_live,
        ReadDuration("header.time_to_live", message.time_to_live()));
  }
  return header;
}

}  // namespace tensord
