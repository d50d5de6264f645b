#include "clients/cpp/tensor_transfer.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"
#include "clients/cpp/client.h"
#include "clients/cpp/connection.h"
#include "clients/cpp/durations.h"
#include "clients/cpp/sha256.h"

namespace tensord {
namespace {

void AddLittleEndian(uint64_t value, int byte_count, Sha256Hasher& hasher) {
  char bytes[8];
  for (int i = 0; i < byte_count; ++i) {
    bytes[i] = static_cast<char>((value >> (8 * i)) & 0xff);
  }
  hasher.Add({bytes, static_cast<size_t>(byte_count)});
}

// An upload, over as many streams as it takes. Where a session owns it, its
// next stream goes on where the one before broke off; the session of a
// connection ends with the connection, so that without one it begins anew.
class Upload {
 public:
  Upload(v1::TensorService::Stub& tensors, const v1::Tensor& tensor,
         const UploadOptions& options, absl::Time deadline)
      : tensors_(tensors),
        data_(tensor.data()),
        options_(options),
        deadline_(deadline) {
    header_.set_session_id(options.session_id);
    header_.set_dtype(tensor.dtype());
    *header_.mutable_dims() = tensor.dims();
    header_.set_size_bytes(static_cast<int64_t>(data_.size()));
    if (options.is_checked) header_.set_data_sha256(Sha256(data_));
    header_.set_device(options.device);
    if (options.time_to_live > absl::ZeroDuration()) {
      *header_.mutable_time_to_live() = ToProto(options.time_to_live);
    }
    if (!options.session_id.empty()) header_.set_upload_id(RandomId());
  }

  // One more stream, from where the one before broke off.
  absl::StatusOr<v1::TensorInfo> SendOn() {
    has_more_ = false;
    if (is_begun_ && !header_.upload_id().empty()) {
      const auto upload = FindOffset();
      if (!upload.ok()) return upload.status();
      if (!upload->tensor_id().empty()) return Find(upload->tensor_id());
    }
    is_begun_ = true;
    grpc::ClientContext context;
    SetDeadline(context, deadline_);
    v1::TensorInfo info;
    v1::UploadTensorRequest message;
    *message.mutable_header() = header_;
    const auto writer = tensors_.UploadTensor(&context, &info);
    bool is_open = writer->Write(message);
    const size_t step =
        static_cast<size_t>(std::max<int64_t>(options_.chunk_bytes, 1));
    for (size_t sent = static_cast<size_t>(header_.offset_bytes());
         is_open && sent < data_.size(); sent += step) {
      const absl::string_view chunk = data_.substr(sent, step);
      message.set_chunk(chunk.data(), chunk.size());
      // A write fails when the server has refused already; Finish() tells why.
      is_open = writer->Write(message);
      if (is_open && options_.progress) {
        options_.progress(static_cast<int64_t>(sent + chunk.size()),
                          static_cast<int64_t>(data_.size()));
      }
    }
    writer->WritesDone();
    const grpc::Status status = writer->Finish();
    if (!status.ok()) return StatusFromGrpc(status);
    return info;
  }

  // More had arrived before the latest stream than before the one before it.
  bool has_more() const { return has_more_; }

 private:
  // Asks where the next stream begins. kUnavailable while the daemon has not
  // seen yet that the last one broke off.
  absl::StatusOr<v1::TensorUpload> FindOffset() {
    v1::GetTensorUploadRequest request;
    request.set_session_id(header_.session_id());
    request.set_upload_id(header_.upload_id());
    auto upload = Unary(tensors_, &v1::TensorService::Stub::GetTensorUpload,
                        request, deadline_);
    if (absl::IsNotFound(upload.status())) upload = v1::TensorUpload();
    if (!upload.ok()) return upload;
    const bool is_open = !upload->has_expire_time() &&
                         upload->tensor_id().empty() &&
                         upload->size_bytes() > 0;
    if (is_open) {
      return absl::UnavailableError(
          absl::StrCat("the daemon still reads upload ", header_.upload_id()));
    }
    has_more_ = upload->received_bytes() > header_.offset_bytes();
    header_.set_offset_bytes(upload->received_bytes());
    return upload;
  }

  // The tensor, when its last byte arrived and only the answer was lost.
  absl::StatusOr<v1::TensorInfo> Find(const std::string& tensor_id) {
    v1::GetTensorRequest request;
    request.set_tensor_id(tensor_id);
    return Unary(tensors_, &v1::TensorService::Stub::GetTensor, request,
                 deadline_);
  }

  // 128 random bits, which no other upload of the session has.
  static std::string RandomId() {
    absl::BitGen random;
    return absl::StrCat(absl::Hex(random(), absl::kZeroPad16),
                        absl::Hex(random(), absl::kZeroPad16));
  }

  v1::TensorService::Stub& tensors_;
  const absl::string_view data_;
  const UploadOptions& options_;
  const absl::Time deadline_;
  v1::UploadTensorHeader header_;
  bool is_begun_ = false;
  bool has_more_ = false;
};

// A download, over as many streams as it takes.
class Download {
 public:
  Download(absl::string_view tensor_id, const DownloadOptions& options)
      : options_(options) {
    request_.set_tensor_id(std::string(tensor_id));
    request_.set_chunk_bytes(static_cast<int32_t>(
        std::clamp<int64_t>(options.chunk_bytes, 1, 16 << 20)));
  }

  int64_t received_bytes() const {
    return static_cast<int64_t>(tensor_.data().size());
  }

  // Reads on from where it is.
  absl::Status ReadOn(v1::TensorService::Stub& tensors, absl::Time deadline) {
    grpc::ClientContext context;
    SetDeadline(context, deadline);
    request_.set_offset_bytes(received_bytes());
    const auto reader = tensors.DownloadTensor(&context, request_);
    v1::DownloadTensorResponse message;
    absl::Status status;
    while (status.ok() && reader->Read(&message)) status = Take(message);
    if (!status.ok()) context.TryCancel();
    const grpc::Status finish = reader->Finish();
    if (!status.ok()) return status;
    if (!finish.ok()) return StatusFromGrpc(finish);
    if (!has_info_ || received_bytes() != info_.size_bytes()) {
      return absl::DataLossError(
          absl::StrCat("tensor ", request_.tensor_id(), " ended after ",
                       received_bytes(), " of ", info_.size_bytes(), " bytes"));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<v1::Tensor> Finish() && {
    if (options_.is_checked && !info_.content_sha256().empty() &&
        ContentSha256(tensor_) != info_.content_sha256()) {
      return absl::DataLossError(absl::StrCat("tensor ", request_.tensor_id(),
                                              ": its ", received_bytes(),
                                              " bytes do not have its hash"));
    }
    return std::move(tensor_);
  }

 private:
  absl::Status Take(v1::DownloadTensorResponse& message) {
    if (message.has_tensor()) return TakeInfo(message.tensor());
    if (!has_info_) {
      return absl::DataLossError("the bytes came before their description");
    }
    // One that sends too much would otherwise fill the memory here.
    const auto size_bytes = static_cast<int64_t>(message.chunk().size());
    if (received_bytes() + size_bytes > info_.size_bytes()) {
      return absl::DataLossError(absl::StrCat("tensor ", request_.tensor_id(),
                                              " has ", info_.size_bytes(),
                                              " bytes, and more came"));
    }
    tensor_.mutable_data()->append(message.chunk());
    if (options_.progress) {
      options_.progress(received_bytes(), info_.size_bytes());
    }
    return absl::OkStatus();
  }

  absl::Status TakeInfo(const v1::TensorInfo& info) {
    if (has_info_ && (info.size_bytes() != info_.size_bytes() ||
                      info.content_sha256() != info_.content_sha256())) {
      return absl::DataLossError(absl::StrCat("tensor ", request_.tensor_id(),
                                              " changed in its download"));
    }
    has_info_ = true;
    info_ = info;
    tensor_.set_dtype(info.dtype());
    *tensor_.mutable_dims() = info.dims();
    return absl::OkStatus();
  }

  const DownloadOptions& options_;
  v1::DownloadTensorRequest request_;
  bool has_info_ = false;
  v1::TensorInfo info_;
  v1::Tensor tensor_;
};

}  // namespace

std::string ContentSha256(const v1::Tensor& tensor) {
  Sha256Hasher hasher;
  AddLittleEndian(static_cast<uint64_t>(tensor.dtype()), 4, hasher);
  AddLittleEndian(static_cast<uint64_t>(tensor.dims_size()), 4, hasher);
  for (const int64_t extent : tensor.dims()) {
    AddLittleEndian(static_cast<uint64_t>(extent), 8, hasher);
  }
  hasher.Add(tensor.data());
  return hasher.Finish();
}

absl::StatusOr<v1::TensorInfo> Client::UploadTensor(
    const v1::Tensor& tensor, const UploadOptions& options,
    const CallOptions& call) {
  const absl::Time deadline = connection_->DeadlineOf(call);
  RetrySchedule schedule(connection_->RetryOf(call), deadline);
  Upload upload(*connection_->tensors, tensor, options, deadline);
  while (true) {
    auto info = upload.SendOn();
    if (info.ok()) return info;
    if (upload.has_more()) schedule.Reset();
    const auto pause = schedule.PauseAfter(info.status(), Repeat::kAlways);
    if (!pause) return info.status();
    absl::SleepFor(*pause);
  }
}

absl::StatusOr<v1::Tensor> Client::DownloadTensor(
    absl::string_view tensor_id, const DownloadOptions& options,
    const CallOptions& call) {
  const absl::Time deadline = connection_->DeadlineOf(call);
  RetrySchedule schedule(connection_->RetryOf(call), deadline);
  Download download(tensor_id, options);
  while (true) {
    const int64_t before_bytes = download.received_bytes();
    const absl::Status status =
        download.ReadOn(*connection_->tensors, deadline);
    if (status.ok()) return std::move(download).Finish();
    if (download.received_bytes() > before_bytes) schedule.Reset();
    const auto pause = schedule.PauseAfter(status, Repeat::kAlways);
    if (!pause) return status;
    absl::SleepFor(*pause);
  }
}

absl::StatusOr<v1::TensorInfo> Client::GetTensor(absl::string_view tensor_id,
                                                 const CallOptions& call) {
  v1::GetTensorRequest request;
  request.set_tensor_id(std::string(tensor_id));
  return connection_->Call(*connection_->tensors,
                           &v1::TensorService::Stub::GetTensor, request, call);
}

absl::StatusOr<std::vector<v1::TensorInfo>> Client::ListTensors(
    v1::ListTensorsRequest request, const CallOptions& call) {
  return connection_->Pages(
      *connection_->tensors, &v1::TensorService::Stub::ListTensors,
      std::move(request), &v1::ListTensorsResponse::mutable_tensors, call);
}

absl::Status Client::DeleteTensor(absl::string_view tensor_id,
                                  const CallOptions& call) {
  v1::DeleteTensorRequest request;
  request.set_tensor_id(std::string(tensor_id));
  return connection_
      ->Call(*connection_->tensors, &v1::TensorService::Stub::DeleteTensor,
             request, call)
      .status();
}

}  // namespace tensord
