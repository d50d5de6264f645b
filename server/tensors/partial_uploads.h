#ifndef TENSORD_SERVER_TENSORS_PARTIAL_UPLOADS_H_
#define TENSORD_SERVER_TENSORS_PARTIAL_UPLOADS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "server/tensors/tensor_upload.h"

namespace tensord {

// Uploads that have an upload_id: those whose stream is open, those that wait
// for their client to go on, and, for a while, those that are complete, so that
// a client whose answer was lost learns of the tensor.
//
// Threading: thread-safe. Ownership: shares uploads with their streams. What
//   they hold is bounded by the bytes of their sessions.
class PartialUploads {
 public:
  using Pointer = std::shared_ptr<TensorUpload>;

  explicit PartialUploads(absl::Duration keep_time) : keep_time_(keep_time) {}

  // The upload of this id, to go on with at `offset_bytes`; one that is not
  // there is made.
  // Errors: kInvalidArgument for another header than before, and for another
  //   offset than where it stands; kFailedPrecondition while another stream is
  //   open, and for one that is complete; SESSION_CLOSED; those of `make`.
  absl::StatusOr<Pointer> Open(
      const std::shared_ptr<Session>& session, absl::string_view upload_id,
      const TensorUpload::Header& header, uint64_t offset_bytes,
      absl::FunctionRef<absl::StatusOr<Pointer>()> make)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Its stream ended: broke off, was refused (then nothing is kept), or made
  // `tensor_id`.
  void Pause(const Session& session, absl::string_view upload_id,
             absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);
  void Drop(const Session& session, absl::string_view upload_id)
      ABSL_LOCKS_EXCLUDED(mu_);
  void Complete(const Session& session, absl::string_view upload_id,
                absl::string_view tensor_id, absl::Time now)
      ABSL_LOCKS_EXCLUDED(mu_);

  struct Progress {
    uint64_t received_bytes = 0;
    uint64_t size_bytes = 0;
    std::optional<absl::Time> expire_time;  // while no stream is open
    std::string tensor_id;
  };
  // kNotFound.
  absl::StatusOr<Progress> Find(const Session& session,
                                absl::string_view upload_id,
                                absl::Time now) const ABSL_LOCKS_EXCLUDED(mu_);

  void RemoveOwnedBy(const Session& session) ABSL_LOCKS_EXCLUDED(mu_);
  void RemoveExpired(absl::Time now) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Entry {
    std::shared_ptr<Session> session;  // so that its address stays its own
    Pointer upload;                    // null once it is complete
    uint64_t size_bytes = 0;
    bool is_open = true;
    absl::Time expire_time;  // when it is not open
    std::string tensor_id;
  };
  using Key = std::pair<const Session*, std::string>;

  template <typename Choose>
  void RemoveIf(Choose choose) ABSL_LOCKS_EXCLUDED(mu_);

  const absl::Duration keep_time_;
  mutable absl::Mutex mu_;
  absl::flat_hash_map<Key, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_SERVER_TENSORS_PARTIAL_UPLOADS_H_
