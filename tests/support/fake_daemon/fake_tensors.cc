#include "tests/support/fake_daemon/fake_tensors.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "clients/cpp/sha256.h"
#include "clients/cpp/tensor_transfer.h"

namespace tensord::testing {
namespace {

const grpc::Status kBroken(grpc::StatusCode::UNAVAILABLE,
                           "the connection broke");

}  // namespace

bool FakeTensors::Breaks(int64_t stream_bytes) {
  absl::MutexLock lock(&mu_);
  if (break_after_bytes == 0 || break_count == 0 ||
      stream_bytes < break_after_bytes) {
    return false;
  }
  --break_count;
  return true;
}

grpc::Status FakeTensors::UploadTensor(
    grpc::ServerContext* context,
    grpc::ServerReader<v1::UploadTensorRequest>* reader,
    v1::TensorInfo* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  v1::UploadTensorRequest message;
  if (!reader->Read(&message) || !message.has_header()) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "no header"};
  }
  const v1::UploadTensorHeader header = message.header();
  Upload upload;
  {
    absl::MutexLock lock(&mu_);
    headers_.push_back(header);
    if (!header.upload_id().empty()) upload = uploads_[header.upload_id()];
  }
  upload.header = header;
  if (static_cast<int64_t>(upload.data.size()) != header.offset_bytes()) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "not where the upload stands"};
  }
  bool breaks = false;
  int64_t stream_bytes = 0;
  while (!breaks && reader->Read(&message)) {
    upload.data += message.chunk();
    stream_bytes += static_cast<int64_t>(message.chunk().size());
    breaks = Breaks(stream_bytes);
  }
  absl::MutexLock lock(&mu_);
  grpc::Status end = breaks ? kBroken : Complete(upload, *response);
  if (end.ok() && loses_answers) {
    loses_answers = false;
    end = kBroken;
  }
  if (!header.upload_id().empty()) uploads_[header.upload_id()] = upload;
  return end;
}

grpc::Status FakeTensors::Complete(Upload& upload, v1::TensorInfo& info) {
  const v1::UploadTensorHeader& header = upload.header;
  if (static_cast<int64_t>(upload.data.size()) != header.size_bytes() ||
      (!header.data_sha256().empty() &&
       Sha256(upload.data) != header.data_sha256())) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "not what was declared"};
  }
  v1::Tensor tensor;
  tensor.set_dtype(header.dtype());
  *tensor.mutable_dims() = header.dims();
  tensor.set_data(upload.data);
  info.set_tensor_id(absl::StrCat("fake.tensor", tensors_.size() + 1));
  info.set_session_id(header.session_id());
  info.set_dtype(header.dtype());
  *info.mutable_dims() = header.dims();
  info.set_size_bytes(header.size_bytes());
  info.set_device(header.device().empty() ? "cpu:0" : header.device());
  info.set_content_sha256(ContentSha256(tensor));
  upload.tensor_id = info.tensor_id();
  tensors_[info.tensor_id()] = {info, upload.data};
  return grpc::Status::OK;
}

grpc::Status FakeTensors::GetTensorUpload(
    grpc::ServerContext* context, const v1::GetTensorUploadRequest* request,
    v1::TensorUpload* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  const auto found = uploads_.find(request->upload_id());
  if (found == uploads_.end()) {
    return FakeNotFound("upload", request->upload_id());
  }
  response->set_received_bytes(static_cast<int64_t>(found->second.data.size()));
  response->set_size_bytes(found->second.header.size_bytes());
  response->mutable_expire_time()->set_seconds(4'000'000'000);
  response->set_tensor_id(found->second.tensor_id);
  return grpc::Status::OK;
}

grpc::Status FakeTensors::DownloadTensor(
    grpc::ServerContext* context, const v1::DownloadTensorRequest* request,
    grpc::ServerWriter<v1::DownloadTensorResponse>* writer) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  std::pair<v1::TensorInfo, std::string> tensor;
  {
    absl::MutexLock lock(&mu_);
    downloads_.push_back(*request);
    const auto found = tensors_.find(request->tensor_id());
    if (found == tensors_.end()) {
      return FakeNotFound("tensor", request->tensor_id());
    }
    tensor = found->second;
  }
  if (corrupts && !tensor.second.empty()) tensor.second.back() ^= 1;
  v1::DownloadTensorResponse message;
  *message.mutable_tensor() = tensor.first;
  writer->Write(message);
  int64_t stream_bytes = 0;
  for (size_t at = static_cast<size_t>(request->offset_bytes());
       at < tensor.second.size();
       at += static_cast<size_t>(request->chunk_bytes())) {
    message.set_chunk(
        tensor.second.substr(at, static_cast<size_t>(request->chunk_bytes())));
    writer->Write(message);
    stream_bytes += static_cast<int64_t>(message.chunk().size());
    if (Breaks(stream_bytes)) return kBroken;
  }
  return grpc::Status::OK;
}

grpc::Status FakeTensors::GetTensor(grpc::ServerContext* context,
                                    const v1::GetTensorRequest* request,
                                    v1::TensorInfo* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  const auto found = tensors_.find(request->tensor_id());
  if (found == tensors_.end()) {
    return FakeNotFound("tensor", request->tensor_id());
  }
  *response = found->second.first;
  return grpc::Status::OK;
}

grpc::Status FakeTensors::ListTensors(grpc::ServerContext* context,
                                      const v1::ListTensorsRequest* request,
                                      v1::ListTensorsResponse* response) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  size_t skip = 0;
  if (!request->page_token().empty() &&
      !absl::SimpleAtoi(request->page_token(), &skip)) {
    return {grpc::StatusCode::INVALID_ARGUMENT, "no page token of this call"};
  }
  size_t index = 0;
  for (const auto& [id, tensor] : tensors_) {
    if (!request->session_id().empty() &&
        tensor.first.session_id() != request->session_id()) {
      continue;
    }
    if (index++ < skip) continue;
    if (response->tensors_size() == page_size_) {
      response->set_next_page_token(absl::StrCat(index - 1));
      break;
    }
    *response->add_tensors() = tensor.first;
  }
  return grpc::Status::OK;
}

grpc::Status FakeTensors::DeleteTensor(grpc::ServerContext* context,
                                       const v1::DeleteTensorRequest* request,
                                       v1::DeleteTensorResponse*) {
  const grpc::Status status = begin_(*context);
  if (!status.ok()) return status;
  absl::MutexLock lock(&mu_);
  return tensors_.erase(request->tensor_id()) > 0 || request->allow_missing()
             ? grpc::Status::OK
             : FakeNotFound("tensor", request->tensor_id());
}

std::vector<v1::UploadTensorHeader> FakeTensors::headers() const {
  absl::MutexLock lock(&mu_);
  return headers_;
}

std::vector<v1::DownloadTensorRequest> FakeTensors::downloads() const {
  absl::MutexLock lock(&mu_);
  return downloads_;
}

std::string FakeTensors::DataOf(const std::string& tensor_id) const {
  absl::MutexLock lock(&mu_);
  const auto found = tensors_.find(tensor_id);
  return found == tensors_.end() ? "" : found->second.second;
}

size_t FakeTensors::count() const {
  absl::MutexLock lock(&mu_);
  return tensors_.size();
}

}  // namespace tensord::testing
