#include "server/rpc/api_services.h"

#include "tensord/v1/device_service.pb.h"
#include "tensord/v1/execution_service.pb.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/v1/profile_service.pb.h"
#include "tensord/v1/session_service.pb.h"
#include "tensord/v1/tensor_service.pb.h"

namespace tensord {

const std::vector<const google::protobuf::ServiceDescriptor*>& ApiServices() {
  static const auto& services =
      *new std::vector<const google::protobuf::ServiceDescriptor*>{
          v1::Device::descriptor()->file()->service(0),
          v1::ExecuteRequest::descriptor()->file()->service(0),
          v1::GraphInfo::descriptor()->file()->service(0),
          v1::OpProfile::descriptor()->file()->service(0),
          v1::Session::descriptor()->file()->service(0),
          v1::UploadTensorRequest::descriptor()->file()->service(0)};
  return services;
}

std::vector<metrics::MethodName> ApiMethods() {
  std::vector<metrics::MethodName> methods;
  for (const auto* service : ApiServices()) {
    for (int i = 0; i < service->method_count(); ++i) {
      methods.push_back({service->full_name(), service->method(i)->name()});
    }
  }
  return methods;
}

}  // namespace tensord
