#ifndef TENSORD_ENGINE_TUNE_TUNING_TABLE_H_
#define TENSORD_ENGINE_TUNE_TUNING_TABLE_H_

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "engine/compiled/kernel_choice.h"

namespace tensord {

// One remembered measurement.
struct TuningEntry {
  std::string site_key;  // SiteKey()
  std::string op;        // for people who read the file
  std::shared_ptr<const MeasuredSite> measured;
};

// Which hardware a measurement holds for: devices of one uuid are alike.
std::string TuningDevice(const DeviceInfo& info);

// What was measured, by device and site.
//
// Threading: every method may be called from any thread. Find() computes a key
//   only where any device has an entry.
// Ownership: shares its entries.
class TuningTable final : public KernelChoice {
 public:
  // Of one device. A graph has tens of different sites, so this is some
  // thousand graphs; further sites are not kept.
  static constexpr size_t kMaxSites = 65'536;

  std::shared_ptr<const MeasuredSite> Find(
      const NodeSite& site, const DeviceInfo& device) const override;
  std::shared_ptr<const MeasuredSite> Find(absl::string_view device,
                                           absl::string_view site_key) const;

  // Keeps an entry in place of an older one; false when the device has
  // kMaxSites others.
  bool Store(absl::string_view device, TuningEntry entry);

  // Of one device, by key.
  std::vector<TuningEntry> Entries(absl::string_view device) const;

  // Over all devices.
  size_t size() const { return size_.load(std::memory_order_relaxed); }

 private:
  using Sites = absl::flat_hash_map<std::string, TuningEntry>;

  std::atomic<size_t> size_{0};
  mutable absl::Mutex mu_;
  absl::flat_hash_map<std::string, Sites> devices_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_TUNING_TABLE_H_
