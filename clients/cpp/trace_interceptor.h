#ifndef TENSORD_CLIENTS_CPP_TRACE_INTERCEPTOR_H_
#define TENSORD_CLIENTS_CPP_TRACE_INTERCEPTOR_H_

#include <grpcpp/support/client_interceptor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tensord {

// What puts ClientOptions::traceparent into the metadata of each call, for
// grpc::experimental::CreateCustomChannelWithInterceptors. None for a null one,
// so that its channel's calls go as before.
std::vector<
    std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
TraceInterceptors(std::function<std::string()> traceparent);

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_TRACE_INTERCEPTOR_H_
