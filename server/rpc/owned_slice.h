#ifndef TENSORD_SERVER_RPC_OWNED_SLICE_H_
#define TENSORD_SERVER_RPC_OWNED_SLICE_H_

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <utility>

#include "server/rpc/active_calls.h"

namespace tensord {

// Bytes of a tensor for the transport, without a copy: `owner` keeps them until
// the last one is written.
template <typename Owner>
grpc::Slice OwnedSlice(const std::byte* data, size_t size, Owner owner,
                       ActiveCalls& calls) {
  struct Kept {
    Owner owner;
    ActiveCalls::Sent sent;
  };
  // gRPC takes a plain pointer to bytes that it does not write.
  return grpc::Slice(
      const_cast<std::byte*>(data), size,
      [](void* kept) { delete static_cast<Kept*>(kept); },
      new Kept{std::move(owner), ActiveCalls::Sent(calls)});
}

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_OWNED_SLICE_H_
