#ifndef TENSORD_CLIENTS_CPP_CLIENT_POOL_H_
#define TENSORD_CLIENTS_CPP_CLIENT_POOL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "clients/cpp/client.h"

namespace tensord {

// One client for each of several daemons, which take turns. Runs by value may
// go to any of them; sessions, tensors and runs by handle belong to the daemon
// that made them (WRONG_INSTANCE elsewhere), so that such work takes one client
// by Next() and stays with it.
//
// gRPC's own round_robin would spread the calls of one client over connections
// without telling which daemon a handle came from.
//
// Threading: thread-safe. Ownership: owns its clients, which live as long as
//   it does.
class ClientPool {
 public:
  // kInvalidArgument for no address or an empty one.
  static absl::StatusOr<std::unique_ptr<ClientPool>> Connect(
      absl::Span<const std::string> addresses, ClientOptions options = {});

  size_t size() const { return members_.size(); }

  // The client whose turn it is, of those that answered their last call; of all
  // when none did.
  Client& Next();

  // Runs at the daemon whose turn it is. One that nobody answers at, or that is
  // draining or full, is passed over for the next one at once, and left out for
  // a while; when all have been tried there is a pause. max_attempts counts
  // rounds. A failure that leaves open whether the run was begun is final
  // unless IsSafeToRepeat(request).
  absl::StatusOr<v1::ExecuteResponse> Execute(const GraphSource& graph,
                                              v1::ExecuteRequest request,
                                              const CallOptions& call = {});

 private:
  struct Member {
    Client client;
    absl::Time out_until = absl::InfinitePast();
  };

  explicit ClientPool(ClientOptions options) : options_(std::move(options)) {}

  size_t NextIndex();
  void LeaveOut(size_t index);

  const ClientOptions options_;
  std::vector<std::unique_ptr<Member>> members_;  // fixed; out_until is not
  absl::Mutex mu_;                                // guards Member::out_until
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_CLIENT_POOL_H_
