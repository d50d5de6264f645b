#include "server/sessions/resource_id.h"

#include <algorithm>
#include <cstdint>

#include "absl/random/random.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "server/sessions/resource_error.h"

namespace tensord {
namespace {

constexpr absl::string_view kBase32 = "abcdefghijklmnopqrstuvwxyz234567";
constexpr size_t kRandomChars = 26;
constexpr size_t kMaxInstanceBytes = 63;

bool IsInstance(absl::string_view text) {
  return !text.empty() && text.size() <= kMaxInstanceBytes &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-';
         });
}

bool IsRandomPart(absl::string_view text) {
  return text.size() == kRandomChars &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return kBase32.find(c) != absl::string_view::npos;
         });
}

}  // namespace

void NewResourceId(absl::string_view instance, std::string& id) {
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

std::string NewResourceId(absl::string_view instance) {
  std::string id;
  NewResourceId(instance, id);
  return id;
}

absl::Status CheckResourceId(absl::string_view type, absl::string_view id,
                             absl::string_view instance) {
  const size_t dot = id.rfind('.');
  if (dot == absl::string_view::npos || !IsInstance(id.substr(0, dot)) ||
      !IsRandomPart(id.substr(dot + 1))) {
    return WrongField(absl::StrCat(type, "_id"),
                      absl::StrCat(Quoted(id), " is no ", type, " id"));
  }
  if (id.substr(0, dot) == instance) return absl::OkStatus();
  ResourceError error;
  error.reason = "WRONG_INSTANCE";
  error.metadata = {{"instance", std::string(id.substr(0, dot))}};
  return error.ToStatus(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat(type, " ", id, " is of instance ", id.substr(0, dot),
                   "; this one is ", instance));
}

}  // namespace tensord
