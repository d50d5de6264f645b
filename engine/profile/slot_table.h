#ifndef TENSORD_ENGINE_PROFILE_SLOT_TABLE_H_
#define TENSORD_ENGINE_PROFILE_SLOT_TABLE_H_

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "backends/api/device_id.h"
#include "backends/api/dtype.h"
#include "engine/profile/op_label.h"
#include "engine/profile/shard.h"

namespace tensord::op_profile {

// What a slot stands for.
struct SlotIdentity {
  OpLabel op = OpKind::kIdentity;
  BackendId backend{};
  std::string kernel;  // empty: nobody's slot
  DType dtype = DType::kUndefined;
};

// Numbers for (op, backend, kernel, dtype), dense and never reused.
//
// Bounded: kernels past kMaxKernelSlots share one slot for each (op, backend),
// named kOtherKernel, so what is reported for an op stays exact.
//
// Threading: not thread-safe; OpProfile guards it.
class SlotTable {
 public:
  static constexpr uint32_t kMaxKernelSlots = 3072;
  static constexpr absl::string_view kOtherKernel = "other";
  // The rest of the slots is enough for every (op, backend).
  static_assert(kMaxKernelSlots + OpLabel::kCount * kBackendCount <=
                kMaxSlotCount);

  SlotTable() : identities_(1) {}  // kNoSlot

  // The slot of these four, new or known.
  uint32_t Intern(OpLabel op, BackendId backend, absl::string_view kernel,
                  DType dtype);

  // One more than the highest slot that was given out.
  uint32_t size() const { return static_cast<uint32_t>(identities_.size()); }

  const SlotIdentity& identity(uint32_t slot) const {
    return identities_[slot];
  }

 private:
  using Key = std::tuple<OpLabel, BackendId, std::string, DType>;

  absl::flat_hash_map<Key, uint32_t> slots_;
  std::vector<SlotIdentity> identities_;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_SLOT_TABLE_H_
