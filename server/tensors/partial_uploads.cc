#include "server/tensors/partial_uploads.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/sessions/resource_error.h"

namespace tensord {

absl::StatusOr<PartialUploads::Pointer> PartialUploads::Open(
    const std::shared_ptr<Session>& session, absl::string_view upload_id,
    const TensorUpload::Header& header, uint64_t offset_bytes,
    absl::FunctionRef<absl::StatusOr<Pointer>()> make) {
  Key key(session.get(), upload_id);
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (offset_bytes != 0) {
      return WrongField("header.offset_bytes",
                        absl::StrCat(offset_bytes, ", and nothing of ",
                                     Quoted(upload_id), " has arrived"));
    }
    TENSORD_ASSIGN_OR_RETURN(Pointer upload, make());
    if (session->is_closed()) return SessionIsClosed(session->id());
    entries_[std::move(key)] = {
        .session = session, .upload = upload, .size_bytes = header.size_bytes};
    return upload;
  }
  Entry& entry = found->second;
  if (!entry.tensor_id.empty() || entry.is_open) {
    return absl::FailedPreconditionError(absl::StrCat(
        "upload ", Quoted(upload_id),
        entry.is_open
            ? " has another stream that is still open"
            : absl::StrCat(" is complete: tensor ", entry.tensor_id)));
  }
  if (!(entry.upload->header() == header)) {
    return WrongField("header", absl::StrCat("upload ", Quoted(upload_id),
                                             " was begun with another one"));
  }
  if (offset_bytes != entry.upload->received()) {
    return WrongField(
        "header.offset_bytes",
        absl::StrCat(offset_bytes, ", and ", entry.upload->received(),
                     " bytes of ", Quoted(upload_id), " have arrived"));
  }
  entry.is_open = true;
  return entry.upload;
}

void PartialUploads::Pause(const Session& session, absl::string_view upload_id,
                           absl::Time now) {
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(Key(&session, upload_id));
  if (found == entries_.end()) return;
  found->second.is_open = false;
  found->second.expire_time = now + keep_time_;
}

void PartialUploads::Drop(const Session& session, absl::string_view upload_id) {
  Entry dropped;
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(Key(&session, upload_id));
  if (found == entries_.end()) return;
  dropped = std::move(found->second);
  entries_.erase(found);
}

void PartialUploads::Complete(const Session& session,
                              absl::string_view upload_id,
                              absl::string_view tensor_id, absl::Time now) {
  Pointer released;
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(Key(&session, upload_id));
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  released = std::move(entry.upload);
  entry.upload = nullptr;
  entry.is_open = false;
  entry.expire_time = now + keep_time_;
  entry.tensor_id = std::string(tensor_id);
}

absl::StatusOr<PartialUploads::Progress> PartialUploads::Find(
    const Session& session, absl::string_view upload_id, absl::Time now) const {
  absl::MutexLock lock(&mu_);
  const auto found = entries_.find(Key(&session, upload_id));
  if (found == entries_.end() ||
      (!found->second.is_open && found->second.expire_time <= now)) {
    return NoResource("upload", upload_id);
  }
  const Entry& entry = found->second;
  Progress progress;
  progress.size_bytes = entry.size_bytes;
  progress.received_bytes =
      entry.upload == nullptr ? entry.size_bytes : entry.upload->received();
  if (!entry.is_open) progress.expire_time = entry.expire_time;
  progress.tensor_id = entry.tensor_id;
  return progress;
}

void PartialUploads::RemoveOwnedBy(const Session& session) {
  RemoveIf([&](const Key& key, const Entry&) { return key.first == &session; });
}

void PartialUploads::RemoveExpired(absl::Time now) {
  RemoveIf([&](const Key&, const Entry& entry) {
    return !entry.is_open && entry.expire_time <= now;
  });
}

template <typename Choose>
void PartialUploads::RemoveIf(Choose choose) {
  std::vector<Entry> removed;
  absl::MutexLock lock(&mu_);
  for (auto it = entries_.begin(); it != entries_.end();) {
    if (choose(it->first, it->second)) {
      removed.push_back(std::move(it->second));
      entries_.erase(it++);
    } else {
      ++it;
    }
  }
}

}  // namespace tensord
