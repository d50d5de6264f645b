#ifndef TENSORD_SERVER_SESSIONS_OWNED_TABLE_H_
#define TENSORD_SERVER_SESSIONS_OWNED_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/string_view.h"
#include "server/sessions/session.h"

namespace tensord {

// What sessions own, by id, by owner and by age. An Item has `id()` and
// `session()`, which never change.
//
// Threading: guarded by its user's lock. Ownership: shares the items.
template <typename Item>
class OwnedTable {
 public:
  using Pointer = std::shared_ptr<Item>;
  // Larger for later ones.
  using Sequence = int64_t;

  void Insert(Pointer item) {
    const Sequence sequence = next_++;
    by_id_[item->id()] = sequence;
    of_session_[item->session().get()].insert(sequence);
    item->session()->AddOwned(1);
    by_sequence_[sequence] = std::move(item);
  }

  // Null when it is not there.
  Pointer Find(absl::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : by_sequence_.at(found->second);
  }

  Pointer Remove(absl::string_view id) {
    const auto found = by_id_.find(id);
    if (found == by_id_.end()) return nullptr;
    const auto item = by_sequence_.find(found->second);
    Pointer removed = std::move(item->second);
    const auto owned = of_session_.find(removed->session().get());
    owned->second.erase(item->first);
    if (owned->second.empty()) of_session_.erase(owned);
    by_sequence_.erase(item);
    by_id_.erase(found);
    removed->session()->AddOwned(-1);
    return removed;
  }

  std::vector<Pointer> OwnedBy(const Session& session) const {
    std::vector<Pointer> items;
    const auto owned = of_session_.find(&session);
    if (owned == of_session_.end()) return items;
    for (const Sequence sequence : owned->second) {
      items.push_back(by_sequence_.at(sequence));
    }
    return items;
  }

  // From the latest before `before` backwards, until `visit` says false.
  template <typename Visit>
  void VisitBackwards(Sequence before, Visit visit) const {
    auto it = by_sequence_.lower_bound(before);
    while (it != by_sequence_.begin()) {
      --it;
      if (!visit(it->first, it->second)) return;
    }
  }

  // From the oldest on, until `visit` says false.
  template <typename Visit>
  void VisitForwards(Visit visit) const {
    for (const auto& [sequence, item] : by_sequence_) {
      if (!visit(item)) return;
    }
  }

  int64_t size() const { return static_cast<int64_t>(by_sequence_.size()); }

 private:
  Sequence next_ = 1;
  absl::btree_map<Sequence, Pointer> by_sequence_;
  absl::flat_hash_map<std::string, Sequence> by_id_;
  absl::flat_hash_map<const Session*, absl::flat_hash_set<Sequence>>
      of_session_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_SESSIONS_OWNED_TABLE_H_
