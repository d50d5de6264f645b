#include "server/rpc/graph_facts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tensord {

std::shared_ptr<GraphFacts> GraphFactsTable::Insert(
    const std::string& id, std::shared_ptr<GraphFacts> fresh,
    absl::FunctionRef<bool(const std::string& id)> is_known) {
  std::vector<std::string> ids;
  std::shared_ptr<GraphFacts> facts;
  {
    absl::MutexLock lock(&mu_);
    facts = facts_.try_emplace(id, std::move(fresh)).first->second;
    if (facts_.size() < purge_at_) return facts;
    for (const auto& [known_id, unused] : facts_) {
      if (known_id != id) ids.push_back(known_id);
    }
  }
  // The engine is asked without the lock.
  ids.erase(std::remove_if(ids.begin(), ids.end(), is_known), ids.end());
  absl::MutexLock lock(&mu_);
  for (const std::string& gone : ids) facts_.erase(gone);
  purge_at_ = std::max(kLeastPurgeSize, 2 * facts_.size());
  return facts;
}

std::shared_ptr<GraphFacts> GraphFactsTable::Find(absl::string_view id) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto found = facts_.find(id);
  return found == facts_.end() ? nullptr : found->second;
}

void GraphFactsTable::Erase(absl::string_view id) {
  absl::MutexLock lock(&mu_);
  facts_.erase(id);
}

}  // namespace tensord
