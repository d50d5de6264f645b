#include "server/wire/wire_reader.h"

#include <cstring>

#include "absl/base/optimization.h"

namespace tensord {

WireReader::WireReader(absl::Span<const absl::string_view> segments)
    : segments_(segments) {
  for (absl::string_view segment : segments) end_ += segment.size();
  NextSegment();
}

void WireReader::NextSegment() {
  while (current_.empty() && !segments_.empty()) {
    current_ = segments_.front();
    segments_.remove_prefix(1);
  }
}

bool WireReader::ReadByte(uint8_t& byte) {
  if (ABSL_PREDICT_FALSE(AtEnd())) return false;
  byte = static_cast<uint8_t>(current_.front());
  current_.remove_prefix(1);
  ++position_;
  if (ABSL_PREDICT_FALSE(current_.empty())) NextSegment();
  return true;
}

bool WireReader::ReadVarint(uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 70; shift += 7) {
    uint8_t byte;
    if (!ReadByte(byte)) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool WireReader::ReadTag(Tag& tag) {
  uint64_t value;
  if (!ReadVarint(value) || value > UINT32_MAX) return false;
  tag.field = static_cast<uint32_t>(value >> 3);
  tag.type = static_cast<WireType>(value & 7);
  return tag.field != 0 && tag.type <= kFixed32;
}

bool WireReader::ReadLength(size_t& length) {
  uint64_t value;
  if (!ReadVarint(value) || value > remaining()) return false;
  length = static_cast<size_t>(value);
  return true;
}

bool WireReader::ReadString(size_t max_size, std::string& text) {
  size_t length;
  if (!ReadLength(length) || length > max_size) return false;
  text.resize(length);
  return CopyTo(reinterpret_cast<std::byte*>(text.data()), length);
}

template <typename Take>
bool WireReader::TakePieces(size_t size, Take take) {
  if (size > remaining()) return false;
  while (size > 0) {
    const absl::string_view piece = current_.substr(0, size);
    take(piece);
    size -= piece.size();
    position_ += piece.size();
    current_.remove_prefix(piece.size());
    if (current_.empty()) NextSegment();
  }
  return true;
}

bool WireReader::CopyTo(std::byte* destination, size_t size) {
  return TakePieces(size, [&](absl::string_view piece) {
    std::memcpy(destination, piece.data(), piece.size());
    destination += piece.size();
  });
}

bool WireReader::AppendTo(std::string& text, size_t size) {
  return TakePieces(size, [&](absl::string_view piece) {
    text.append(piece.data(), piece.size());
  });
}

bool WireReader::Skip(size_t size) {
  return TakePieces(size, [](absl::string_view) {});
}

bool WireReader::SkipValue(Tag tag, int depth) {
  switch (tag.type) {
    case kVarint: {
      uint64_t ignored;
      return ReadVarint(ignored);
    }
    case kFixed64:
      return Skip(8);
    case kFixed32:
      return Skip(4);
    case kLengthDelimited: {
      size_t length;
      return ReadLength(length) && Skip(length);
    }
    case kStartGroup: {
      if (depth >= kMaxGroupDepth) return false;
      Tag inner;
      while (ReadTag(inner)) {
        if (inner.type == kEndGroup) return inner.field == tag.field;
        if (!SkipValue(inner, depth + 1)) return false;
      }
      return false;
    }
    case kEndGroup:
      return false;
  }
  return false;
}

bool WireReader::Enter(size_t& outer_end) {
  size_t length;
  if (!ReadLength(length)) return false;
  outer_end = end_;
  end_ = position_ + length;
  return true;
}

}  // namespace tensord
