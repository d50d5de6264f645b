#include "server/tensors/tensor_upload.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "server/sessions/resource_error.h"

namespace tensord {
namespace {

template <typename Number>
void AddNumber(Number number, Sha256& sha) {
  char bytes[sizeof(Number)];
  for (size_t i = 0; i < sizeof(Number); ++i) {
    bytes[i] = static_cast<char>(number >> (8 * i));
  }
  sha.Add({bytes, sizeof(bytes)});
}

}  // namespace

void AddTensorHead(DType dtype, const Shape& shape, Sha256& sha) {
  AddNumber(static_cast<uint32_t>(dtype), sha);
  AddNumber(static_cast<uint32_t>(shape.rank()), sha);
  for (const int64_t extent : shape.extents()) AddNumber(extent, sha);
}

bool TensorUpload::Header::operator==(const Header& other) const {
  return dtype == other.dtype && shape == other.shape &&
         size_bytes == other.size_bytes && data_sha256 == other.data_sha256 &&
         device == other.device && time_to_live == other.time_to_live;
}

TensorUpload::TensorUpload(Header header, Session::Lease lease,
                           PooledBuffer bytes)
    : header_(std::move(header)),
      lease_(std::move(lease)),
      bytes_(std::move(bytes)) {
  AddTensorHead(header_.dtype, header_.shape, content_sha_);
}

void TensorUpload::Advance(size_t count) {
  const absl::string_view bytes(reinterpret_cast<const char*>(next()), count);
  content_sha_.Add(bytes);
  if (!header_.data_sha256.empty()) data_sha_.Add(bytes);
  received_.store(received() + count, std::memory_order_release);
}

absl::Status TensorUpload::CheckComplete() {
  if (missing() > 0) {
    return WrongField(
        "chunk", absl::StrCat(received(), " bytes came, and the tensor has ",
                              header_.size_bytes));
  }
  if (header_.data_sha256.empty()) return absl::OkStatus();
  const Sha256Digest digest = data_sha_.Finish();
  if (BytesOf(digest) == header_.data_sha256) return absl::OkStatus();
  ResourceError error;
  error.reason = "HASH_MISMATCH";
  const std::string declared = absl::BytesToHexString(header_.data_sha256);
  const std::string received = absl::BytesToHexString(BytesOf(digest));
  error.metadata = {{"declared_sha256", declared},
                    {"received_sha256", received}};
  return error.ToStatus(absl::StatusCode::kInvalidArgument,
                        absl::StrCat("the bytes have SHA-256 ", received,
                                     ", and the header declares ", declared));
}

std::string TensorUpload::content_sha256() {
  return std::string(BytesOf(content_sha_.Finish()));
}

}  // namespace tensord
