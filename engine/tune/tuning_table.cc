#include "engine/tune/tuning_table.h"

#include <algorithm>
#include <utility>

#include "engine/tune/site_key.h"

namespace tensord {

std::string TuningDevice(const DeviceInfo& info) {
  return info.uuid.empty() ? info.id.ToString() : info.uuid;
}

std::shared_ptr<const MeasuredSite> TuningTable::Find(
    const NodeSite& site, const DeviceInfo& device) const {
  if (size() == 0 || site.layouts.empty()) return nullptr;
  return Find(TuningDevice(device), SiteKey(site));
}

std::shared_ptr<const MeasuredSite> TuningTable::Find(
    absl::string_view device, absl::string_view site_key) const {
  absl::ReaderMutexLock lock(&mu_);
  const auto sites = devices_.find(device);
  if (sites == devices_.end()) return nullptr;
  const auto entry = sites->second.find(site_key);
  return entry == sites->second.end() ? nullptr : entry->second.measured;
}

bool TuningTable::Store(absl::string_view device, TuningEntry entry) {
  absl::MutexLock lock(&mu_);
  Sites& sites = devices_[device];
  const auto found = sites.find(entry.site_key);
  if (found != sites.end()) {
    found->second = std::move(entry);
    return true;
  }
  if (sites.size() >= kMaxSites) return false;
  std::string key = entry.site_key;
  sites.emplace(std::move(key), std::move(entry));
  size_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

std::vector<TuningEntry> TuningTable::Entries(absl::string_view device) const {
  std::vector<TuningEntry> entries;
  {
    absl::ReaderMutexLock lock(&mu_);
    const auto sites = devices_.find(device);
    if (sites == devices_.end()) return entries;
    for (const auto& [key, entry] : sites->second) entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const TuningEntry& a, const TuningEntry& b) {
              return a.site_key < b.site_key;
            });
  return entries;
}

}  // namespace tensord
