#include "clients/cpp/trace_interceptor.h"

#include <algorithm>
#include <utility>

namespace tensord {
namespace {

using grpc::experimental::ClientInterceptorFactoryInterface;
using grpc::experimental::ClientRpcInfo;
using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::Interceptor;
using grpc::experimental::InterceptorBatchMethods;

// "00-<32 hex>-<16 hex>-<2 hex>", and what later versions append.
constexpr size_t kMinBytes = 55;
constexpr size_t kMaxBytes = 256;

// Whether it may be sent at all: gRPC ends the process over metadata that is no
// text. The daemon looks at the rest.
bool MayBeTraceparent(const std::string& text) {
  return text.size() >= kMinBytes && text.size() <= kMaxBytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
         });
}

class TraceInterceptor final : public Interceptor {
 public:
  explicit TraceInterceptor(std::string traceparent)
      : traceparent_(std::move(traceparent)) {}

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            InterceptionHookPoints::PRE_SEND_INITIAL_METADATA) &&
        MayBeTraceparent(traceparent_)) {
      methods->GetSendInitialMetadata()->emplace("traceparent", traceparent_);
    }
    methods->Proceed();
  }

 private:
  const std::string traceparent_;
};

class TraceInterceptorFactory final : public ClientInterceptorFactoryInterface {
 public:
  explicit TraceInterceptorFactory(std::function<std::string()> traceparent)
      : traceparent_(std::move(traceparent)) {}

  Interceptor* CreateClientInterceptor(ClientRpcInfo*) override {
    return new TraceInterceptor(traceparent_());
  }

 private:
  const std::function<std::string()> traceparent_;
};

}  // namespace

std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>>
TraceInterceptors(std::function<std::string()> traceparent) {
  std::vector<std::unique_ptr<ClientInterceptorFactoryInterface>> interceptors;
  if (traceparent != nullptr) {
    interceptors.push_back(
        std::make_unique<TraceInterceptorFactory>(std::move(traceparent)));
  }
  return interceptors;
}

}  // namespace tensord
