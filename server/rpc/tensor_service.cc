#include "server/rpc/tensor_service.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/device_names.h"
#include "server/rpc/page_token.h"
#include "server/rpc/tensor_download.h"
#include "server/rpc/tensor_messages.h"
#include "server/rpc/tensor_upload_call.h"
#include "server/rpc/time_messages.h"
#include "server/rpc/unary_call.h"
#include "server/sessions/resource_id.h"
#include "tensord/v1/tensor_service.pb.h"

namespace tensord {
namespace {

// As tensor_service.proto says.
constexpr int kPageSize = 50;
constexpr int kMaxPageSize = 1000;

using Get = UnaryCall<v1::GetTensorRequest, v1::TensorInfo>;
using List = UnaryCall<v1::ListTensorsRequest, v1::ListTensorsResponse>;
using Delete = UnaryCall<v1::DeleteTensorRequest, v1::DeleteTensorResponse>;
using GetUpload = UnaryCall<v1::GetTensorUploadRequest, v1::TensorUpload>;

absl::Status GetTensor(const ServiceEnvironment& environment, Get& call) {
  const std::string& id = call.request().tensor_id();
  TENSORD_RETURN_IF_ERROR(
      CheckResourceId("tensor", id, environment.config.advertised_name));
  TENSORD_ASSIGN_OR_RETURN(
      const TensorTable::Pointer tensor,
      environment.holdings.tensors.Find(id, call.principal(), absl::Now(),
                                        /*is_use=*/false));
  FillTensorInfo(*tensor, call.response());
  return absl::OkStatus();
}

absl::Status ListTensors(const ServiceEnvironment& environment, List& call) {
  const v1::ListTensorsRequest& request = call.request();
  TENSORD_ASSIGN_OR_RETURN(
      const int page_size,
      PageSize(request.page_size(), kPageSize, kMaxPageSize));
  const std::string scope = absl::StrCat("ListTensors\n", request.session_id(),
                                         "\n", request.device());
  TENSORD_ASSIGN_OR_RETURN(const int64_t before,
                           ReadBackwardsToken(scope, request.page_token()));
  TENSORD_ASSIGN_OR_RETURN(const DeviceWish wish,
                           FindDevice(environment.engine, request.device()));
  const auto wanted = [&](const ResidentTensor& tensor) {
    return (request.session_id().empty() ||
            tensor.session()->id() == request.session_id()) &&
           wish.Allows(tensor.description().device);
  };
  const auto page = environment.holdings.tensors.List(
      call.principal(), before, page_size + 1, absl::Now(), wanted);
  for (size_t i = 0; i < page.size(); ++i) {
    if (static_cast<int>(i) == page_size) {
      call.response().set_next_page_token(
          MakePageToken(scope, absl::StrCat(page[i - 1].first)));
      break;
    }
    FillTensorInfo(*page[i].second, *call.response().add_tensors());
  }
  return absl::OkStatus();
}

absl::Status DeleteTensor(const ServiceEnvironment& environment, Delete& call) {
  const v1::DeleteTensorRequest& request = call.request();
  TENSORD_RETURN_IF_ERROR(CheckResourceId("tensor", request.tensor_id(),
                                          environment.config.advertised_name));
  const absl::Status status =
      environment.holdings.tensors
          .Remove(request.tensor_id(), call.principal(), absl::Now())
          .status();
  if (status.ok() || !request.allow_missing()) return status;
  // One that was consumed is not there either.
  const bool is_missing =
      absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
  return is_missing ? absl::OkStatus() : status;
}

absl::Status GetTensorUpload(const ServiceEnvironment& environment,
                             GetUpload& call) {
  const v1::GetTensorUploadRequest& request = call.request();
  TENSORD_RETURN_IF_ERROR(CheckResourceId("session", request.session_id(),
                                          environment.config.advertised_name));
  TENSORD_ASSIGN_OR_RETURN(
      const std::shared_ptr<Session> session,
      environment.holdings.sessions.Find(request.session_id(), call.principal(),
                                         absl::Now()));
  TENSORD_ASSIGN_OR_RETURN(const PartialUploads::Progress progress,
                           environment.holdings.uploads.Find(
                               *session, request.upload_id(), absl::Now()));
  v1::TensorUpload& message = call.response();
  message.set_received_bytes(static_cast<int64_t>(progress.received_bytes));
  message.set_size_bytes(static_cast<int64_t>(progress.size_bytes));
  if (progress.expire_time.has_value()) {
    FillTime(*progress.expire_time, *message.mutable_expire_time());
  }
  message.set_tensor_id(progress.tensor_id);
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<RawService> MakeTensorService(
    const ServiceEnvironment& environment) {
  auto service = std::make_unique<RawService>(
      environment, *v1::UploadTensorRequest::descriptor()->file()->service(0));
  service->SetClientStream(
      "UploadTensor", MakeTensorUploadHandler(service->record("UploadTensor")));
  service->SetServerStream(
      "DownloadTensor",
      MakeTensorDownloadHandler(service->record("DownloadTensor")));
  SetDirect<Get>(*service, environment, "GetTensor", GetTensor);
  SetDirect<List>(*service, environment, "ListTensors", ListTensors);
  SetDirect<Delete>(*service, environment, "DeleteTensor", DeleteTensor);
  SetDirect<GetUpload>(*service, environment, "GetTensorUpload",
                       GetTensorUpload);
  return service;
}

}  // namespace tensord
