#include "engine/status_payload.h"

#include <cstring>

namespace tensord {

void PayloadWriter::Add(int64_t number) {
  char bytes[sizeof(number)];
  std::memcpy(bytes, &number, sizeof(number));
  bytes_.append(bytes, sizeof(number));
}

void PayloadWriter::Add(absl::string_view text) {
  Add(static_cast<int64_t>(text.size()));
  bytes_.append(text.data(), text.size());
}

int64_t PayloadReader::Number() {
  int64_t number = 0;
  if (bytes_.size() < sizeof(number)) {
    ok_ = false;
    return 0;
  }
  std::memcpy(&number, bytes_.data(), sizeof(number));
  bytes_.remove_prefix(sizeof(number));
  return number;
}

std::string PayloadReader::Text() {
  const int64_t size = Number();
  if (!ok_ || size < 0 || static_cast<uint64_t>(size) > bytes_.size()) {
    ok_ = false;
    return "";
  }
  std::string text(bytes_.substr(0, size));
  bytes_.remove_prefix(size);
  return text;
}

}  // namespace tensord
