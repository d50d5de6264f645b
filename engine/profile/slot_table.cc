#include "engine/profile/slot_table.h"

namespace tensord::op_profile {

uint32_t SlotTable::Intern(OpLabel op, BackendId backend,
                           absl::string_view kernel, DType dtype) {
  Key key(op, backend, std::string(kernel), dtype);
  if (const auto it = slots_.find(key); it != slots_.end()) return it->second;
  if (size() >= kMaxKernelSlots) {
    key = Key(op, backend, std::string(kOtherKernel), DType::kUndefined);
    if (const auto it = slots_.find(key); it != slots_.end()) return it->second;
  }
  const uint32_t slot = size();
  identities_.push_back({op, backend, std::get<2>(key), std::get<3>(key)});
  slots_.emplace(std::move(key), slot);
  return slot;
}

}  // namespace tensord::op_profile
