#ifndef TENSORD_SERVER_RPC_API_SERVICES_H_
#define TENSORD_SERVER_RPC_API_SERVICES_H_

#include <google/protobuf/descriptor.h>

#include <vector>

#include "server/metrics/request_metrics.h"

namespace tensord {

// The services of the API by their descriptors, in alphabetical order. Naming
// them here also links the generated code that reflection shows.
const std::vector<const google::protobuf::ServiceDescriptor*>& ApiServices();

// Every method of the API: what may be a label of a metric.
std::vector<metrics::MethodName> ApiMethods();

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_API_SERVICES_H_
