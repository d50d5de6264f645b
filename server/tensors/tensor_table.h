#ifndef TENSORD_SERVER_TENSORS_TENSOR_TABLE_H_
#define TENSORD_SERVER_TENSORS_TENSOR_TABLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/sessions/owned_table.h"
#include "server/tensors/resident_tensor.h"

namespace tensord {

// The resident tensors of all sessions.
//
// Threading: thread-safe; tensors are let go outside of the lock.
// Ownership: shares the tensors, with runs that use them.
// Errors: kNotFound for one that is not there or another principal's;
//   kFailedPrecondition, TENSOR_CONSUMED, for one that was donated.
class TensorTable {
 public:
  using Pointer = std::shared_ptr<const ResidentTensor>;
  using Sequence = OwnedTable<const ResidentTensor>::Sequence;

  // SESSION_CLOSED when its session was closed meanwhile.
  absl::Status Add(Pointer tensor) ABSL_LOCKS_EXCLUDED(mu_);

  // `now`: counts as use.
  absl::StatusOr<Pointer> Find(absl::string_view id,
                               absl::string_view principal, absl::Time now,
                               bool is_use = true) const
      ABSL_LOCKS_EXCLUDED(mu_);

  // Takes it out for the run that it is donated to.
  absl::StatusOr<Pointer> Consume(absl::string_view id,
                                  absl::string_view principal,
                                  absl::string_view execution_id,
                                  absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);
  // Puts back what a run that never began had consumed.
  void Restore(Pointer tensor) ABSL_LOCKS_EXCLUDED(mu_);

  absl::StatusOr<Pointer> Remove(absl::string_view id,
                                 absl::string_view principal, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  // The principal's that `wanted` takes, the latest first, from behind
  // `before` on; at most `limit`, with the sequences for the next page.
  std::vector<std::pair<Sequence, Pointer>> List(
      absl::string_view principal, Sequence before, int limit, absl::Time now,
      absl::FunctionRef<bool(const ResidentTensor&)> wanted) const
      ABSL_LOCKS_EXCLUDED(mu_);

  struct Freed {
    int64_t count = 0;
    uint64_t bytes = 0;
  };
  // Of a session that is closed.
  Freed RemoveOwnedBy(const Session& session) ABSL_LOCKS_EXCLUDED(mu_);
  Freed RemoveExpired(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);
  Freed OwnedBy(const Session& session) const ABSL_LOCKS_EXCLUDED(mu_);

  int64_t count() const ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // How many consumed ones are remembered, so that they are told from those
  // that never were: a decoding loop makes one in each step.
  static constexpr size_t kMaxConsumed = 16384;

  struct Consumed {
    std::string principal;
    std::string execution_id;
  };

  absl::StatusOr<Pointer> FindLocked(absl::string_view id,
                                     absl::string_view principal,
                                     absl::Time now) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  Freed RemoveAll(absl::FunctionRef<std::vector<Pointer>()> choose)
      ABSL_LOCKS_EXCLUDED(mu_);

  mutable absl::Mutex mu_;
  OwnedTable<const ResidentTensor> tensors_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Consumed> consumed_ ABSL_GUARDED_BY(mu_);
  std::deque<std::string> consumed_order_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_TENSORS_TENSOR_TABLE_H_
