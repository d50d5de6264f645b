#include "server/rpc/execution_id.h"

#include <cstdint>

#include "absl/random/random.h"

namespace tensord {
namespace {

constexpr char kBase32[] = "abcdefghijklmnopqrstuvwxyz234567";

}  // namespace

void NewExecutionId(absl::string_view instance, std::string& id) {
  static thread_local absl::BitGen bits;
  id.assign(instance.data(), instance.size());
  id.push_back('.');
  // 128 bits, the highest first; the last character has 3 of them and 2 zeroes.
  unsigned __int128 value = bits();
  value = value << 64 | bits();
  for (int shift = 123; shift >= 0; shift -= 5) {
    id.push_back(kBase32[static_cast<uint8_t>(value >> shift) & 31]);
  }
  id.push_back(kBase32[(static_cast<uint8_t>(value) & 7) << 2]);
}

}  // namespace tensord
