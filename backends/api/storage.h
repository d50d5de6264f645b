#ifndef TENSORD_BACKENDS_API_STORAGE_H_
#define TENSORD_BACKENDS_API_STORAGE_H_

#include <cstddef>
#include <cstdint>

#include "backends/api/device_id.h"

namespace tensord {

// The alignment of every storage and of every arena slot, in bytes: one cache
// line and one AVX-512 register.
inline constexpr uint64_t kStorageAlignment = 64;

// One sized allocation on one device. Made by Device::Allocate; the derived
// class frees it.
//
// Threading: the object is immutable; its bytes are not guarded. Work on a lane
//   orders accesses to them.
// Ownership: whoever holds the unique_ptr. It must outlive all work in flight
//   that refers to it, and its device must outlive it.
class Storage {
 public:
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;
  virtual ~Storage() = default;

  DeviceId device() const { return device_; }
  uint64_t size_bytes() const { return size_bytes_; }

  // The device's own address of the first byte. May be dereferenced by the host
  // only if is_host_addressable(). Null only for a backend without memory.
  std::byte* address() const { return address_; }
  bool is_host_addressable() const { return is_host_addressable_; }

 protected:
  Storage(DeviceId device, std::byte* address, uint64_t size_bytes,
          bool is_host_addressable)
      : device_(device),
        address_(address),
        size_bytes_(size_bytes),
        is_host_addressable_(is_host_addressable) {}

 private:
  const DeviceId device_;
  std::byte* const address_;
  const uint64_t size_bytes_;
  const bool is_host_addressable_;
};

// A range of a storage's bytes: what one operand of a kernel is. Borrows the
// storage. A default view is an absent optional operand, with a null address.
struct StorageView {
  const Storage* storage = nullptr;
  uint64_t offset_bytes = 0;
  uint64_t size_bytes = 0;

  bool is_present() const { return storage != nullptr; }
  std::byte* address() const {
    return storage == nullptr ? nullptr : storage->address() + offset_bytes;
  }
};

inline StorageView WholeOf(const Storage& storage) {
  return {&storage, 0, storage.size_bytes()};
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_STORAGE_H_
