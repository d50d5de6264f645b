#ifndef TENSORD_SERVER_WIRE_WIRE_WRITER_H_
#define TENSORD_SERVER_WIRE_WIRE_WRITER_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

// Writes protobuf's wire format at the end of a string.
//
// Threading: one thread. Ownership: borrows the string.
class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}

  static constexpr size_t VarintSize(uint64_t value) {
    return (std::bit_width(value | 1) + 6) / 7;
  }
  // Of a field with a length in front, tag and length included.
  static constexpr size_t LengthDelimitedSize(uint32_t field, uint64_t size) {
    return VarintSize(uint64_t{field} << 3) + VarintSize(size) + size;
  }

  void Varint(uint64_t value) {
    while (value >= 0x80) {
      out_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    out_.push_back(static_cast<char>(value));
  }
  // A scalar field; 0 is the default and takes no bytes.
  void Number(uint32_t field, uint64_t value) {
    if (value == 0) return;
    Varint(uint64_t{field} << 3);
    Varint(value);
  }
  // Tag and length of what the caller writes next.
  void Begin(uint32_t field, uint64_t size) {
    Varint(uint64_t{field} << 3 | 2);
    Varint(size);
  }
  void Bytes(uint32_t field, absl::string_view bytes) {
    Begin(field, bytes.size());
    out_.append(bytes.data(), bytes.size());
  }

 private:
  std::string& out_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_WIRE_WIRE_WRITER_H_
