#ifndef TENSORD_SERVER_RPC_PRINCIPAL_H_
#define TENSORD_SERVER_RPC_PRINCIPAL_H_

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "absl/strings/string_view.h"

namespace tensord {

// Who calls: graphs are held by it. This version knows no authentication, so
// everybody is the same one; what will tell them apart goes in here.
inline absl::string_view PrincipalOf(const grpc::CallbackServerContext&) {
  return "anonymous";
}

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_PRINCIPAL_H_
