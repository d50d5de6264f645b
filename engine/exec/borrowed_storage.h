#ifndef TENSORD_ENGINE_EXEC_BORROWED_STORAGE_H_
#define TENSORD_ENGINE_EXEC_BORROWED_STORAGE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "backends/api/storage.h"
#include "engine/memory/host_storage.h"

namespace tensord {

// Host bytes of one execution as storages of a device that addresses them: no
// copy of inputs, none of outputs. The objects are made again for each
// execution in the same memory.
//
// Threading: whoever leases the lane. Ownership: borrows the bytes, which
// outlive the execution's work.
class BorrowedStorages {
 public:
  // Invalidates what Add() gave before.
  void Clear() { count_ = 0; }

  const Storage* Add(DeviceId device, absl::Span<const std::byte> bytes) {
    if (count_ == slots_.size()) slots_.push_back(std::make_unique<Slot>());
    return &slots_[count_++]->emplace(device, bytes);
  }

 private:
  using Slot = std::optional<HostStorage>;

  std::vector<std::unique_ptr<Slot>> slots_;
  size_t count_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_EXEC_BORROWED_STORAGE_H_
