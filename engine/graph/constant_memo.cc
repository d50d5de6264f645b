#include "engine/graph/constant_memo.h"

#include <utility>

namespace tensord {

HostTensor ConstantMemo::Get(absl::string_view operation,
                             absl::Span<const HostTensor> inputs,
                             absl::FunctionRef<HostTensor()> make,
                             double* cost) {
  Key key{std::string(operation), {}};
  for (const HostTensor& input : inputs) {
    key.inputs.push_back(input.owner().get());
  }
  {
    absl::MutexLock lock(&mu_);
    if (HostTensor found = Find(key, cost); found.is_present()) return found;
  }
  HostTensor made = make();
  if (!made.is_present()) return made;
  Entry entry;
  for (const HostTensor& input : inputs) entry.inputs.emplace_back(input);
  entry.result = WeakHostTensor(made);
  if (cost != nullptr) entry.cost = *cost;
  absl::MutexLock lock(&mu_);
  if (entries_.size() >= kMaxEntries) {
    absl::erase_if(entries_, [](const auto& item) {
      return !item.second.result.Lock().is_present();
    });
  }
  if (entries_.size() < kMaxEntries) {
    entries_.insert_or_assign(std::move(key), std::move(entry));
  }
  return made;
}

// Addresses are used again, so the inputs must still be the same.
HostTensor ConstantMemo::Find(const Key& key, double* cost) {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return HostTensor();
  for (size_t i = 0; i < key.inputs.size(); ++i) {
    const bool is_absent = key.inputs[i] == nullptr;
    if (!is_absent && !found->second.inputs[i].Lock().is_present()) {
      return HostTensor();
    }
  }
  if (cost != nullptr) *cost = found->second.cost;
  return found->second.result.Lock();
}

}  // namespace tensord
