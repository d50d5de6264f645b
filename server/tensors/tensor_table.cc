#include "server/tensors/tensor_table.h"

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "server/sessions/resource_error.h"

namespace tensord {

absl::Status TensorTable::Add(Pointer tensor) {
  const std::string id = tensor->id();
  const std::shared_ptr<Session> session = tensor->session();
  {
    absl::MutexLock lock(&mu_);
    tensors_.Insert(std::move(tensor));
  }
  // Whoever closes the session closes it first and then frees what it owns: one
  // of the two sees this tensor.
  if (!session->is_closed()) return absl::OkStatus();
  Pointer removed;
  {
    absl::MutexLock lock(&mu_);
    removed = tensors_.Remove(id);
  }
  return SessionIsClosed(session->id());
}

absl::StatusOr<TensorTable::Pointer> TensorTable::Find(
    absl::string_view id, absl::string_view principal, absl::Time now,
    bool is_use) const {
  absl::MutexLock lock(&mu_);
  absl::StatusOr<Pointer> tensor = FindLocked(id, principal, now);
  if (tensor.ok() && is_use) {
    (*tensor)->Touch(now);
    (*tensor)->session()->Touch(now);
  }
  return tensor;
}

absl::StatusOr<TensorTable::Pointer> TensorTable::Consume(
    absl::string_view id, absl::string_view principal,
    absl::string_view execution_id, absl::Time now) {
  std::string forgotten;
  absl::MutexLock lock(&mu_);
  TENSORD_ASSIGN_OR_RETURN(Pointer tensor, FindLocked(id, principal, now));
  tensors_.Remove(id);
  tensor->session()->Touch(now);
  consumed_[id] = {std::string(principal), std::string(execution_id)};
  consumed_order_.emplace_back(id);
  if (consumed_order_.size() > kMaxConsumed) {
    consumed_.erase(consumed_order_.front());
    consumed_order_.pop_front();
  }
  return tensor;
}

void TensorTable::Restore(Pointer tensor) {
  {
    absl::MutexLock lock(&mu_);
    // Its place in consumed_order_ runs out by itself.
    consumed_.erase(tensor->id());
  }
  // Its session may be closed by now; then it goes.
  Add(std::move(tensor)).IgnoreError();
}

absl::StatusOr<TensorTable::Pointer> TensorTable::Remove(
    absl::string_view id, absl::string_view principal, absl::Time now) {
  absl::MutexLock lock(&mu_);
  TENSORD_ASSIGN_OR_RETURN(Pointer tensor, FindLocked(id, principal, now));
  tensors_.Remove(id);
  return tensor;
}

std::vector<std::pair<TensorTable::Sequence, TensorTable::Pointer>>
TensorTable::List(absl::string_view principal, Sequence before, int limit,
                  absl::Time now,
                  absl::FunctionRef<bool(const ResidentTensor&)> wanted) const {
  std::vector<std::pair<Sequence, Pointer>> page;
  absl::MutexLock lock(&mu_);
  tensors_.VisitBackwards(
      before, [&](Sequence sequence, const Pointer& tensor) {
        if (tensor->session()->description().principal == principal &&
            tensor->expire_time() > now && wanted(*tensor)) {
          page.emplace_back(sequence, tensor);
        }
        return static_cast<int>(page.size()) < limit;
      });
  return page;
}

TensorTable::Freed TensorTable::RemoveOwnedBy(const Session& session) {
  return RemoveAll([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return tensors_.OwnedBy(session);
  });
}

TensorTable::Freed TensorTable::RemoveExpired(absl::Time now) {
  return RemoveAll([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    std::vector<Pointer> expired;
    tensors_.VisitForwards([&](const Pointer& tensor) {
      if (tensor->expire_time() <= now) expired.push_back(tensor);
      return true;
    });
    return expired;
  });
}

TensorTable::Freed TensorTable::OwnedBy(const Session& session) const {
  Freed owned;
  absl::MutexLock lock(&mu_);
  for (const Pointer& tensor : tensors_.OwnedBy(session)) {
    ++owned.count;
    owned.bytes += tensor->size_bytes();
  }
  return owned;
}

int64_t TensorTable::count() const {
  absl::MutexLock lock(&mu_);
  return tensors_.size();
}

absl::StatusOr<TensorTable::Pointer> TensorTable::FindLocked(
    absl::string_view id, absl::string_view principal, absl::Time now) const {
  Pointer tensor = tensors_.Find(id);
  if (tensor != nullptr &&
      tensor->session()->description().principal == principal &&
      tensor->expire_time() > now) {
    return tensor;
  }
  const auto consumed = consumed_.find(id);
  if (consumed == consumed_.end() || consumed->second.principal != principal) {
    return NoResource("tensor", id);
  }
  ResourceError error;
  error.reason = "TENSOR_CONSUMED";
  error.metadata = {{"tensor_id", std::string(id)},
                    {"execution_id", consumed->second.execution_id}};
  return error.ToStatus(absl::StatusCode::kFailedPrecondition,
                        absl::StrCat("tensor ", id, " was donated to run ",
                                     consumed->second.execution_id));
}

TensorTable::Freed TensorTable::RemoveAll(
    absl::FunctionRef<std::vector<Pointer>()> choose) {
  // Declared before the lock: their memory goes back when it is released.
  std::vector<Pointer> removed;
  Freed freed;
  absl::MutexLock lock(&mu_);
  removed = choose();
  for (const Pointer& tensor : removed) {
    tensors_.Remove(tensor->id());
    ++freed.count;
    freed.bytes += tensor->size_bytes();
  }
  return freed;
}

}  // namespace tensord
