#ifndef TENSORD_SERVER_WIRE_WIRE_READER_H_
#define TENSORD_SERVER_WIRE_WIRE_READER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace tensord {

// Reads protobuf's wire format from bytes that lie in several places, such as
// the slices of a received message, without joining them first.
//
// A read that fails (the bytes end, a varint is too long, a length reaches past
// its message) returns false and leaves the reader at where that was noticed;
// callers give up then. Nothing is allocated but what ReadString copies.
//
// Threading: one thread. A copy reads on from the same place on its own.
// Ownership: borrows the segments and their bytes.
class WireReader {
 public:
  enum WireType : uint8_t {
    kVarint = 0,
    kFixed64 = 1,
    kLengthDelimited = 2,
    kStartGroup = 3,
    kEndGroup = 4,
    kFixed32 = 5,
  };

  struct Tag {
    uint32_t field = 0;
    WireType type = kVarint;
  };

  explicit WireReader(absl::Span<const absl::string_view> segments);

  // Bytes read so far, from the beginning of all; and those left of the message
  // that is being read.
  size_t position() const { return position_; }
  size_t remaining() const { return end_ - position_; }
  bool AtEnd() const { return position_ == end_; }

  bool ReadTag(Tag& tag);
  bool ReadVarint(uint64_t& value);
  // A length, which is at most remaining().
  bool ReadLength(size_t& length);
  // The bytes behind a length, at most `max_size` of them: false when there are
  // more.
  bool ReadString(size_t max_size, std::string& text);
  // `size` bytes into `destination`; at most remaining().
  bool CopyTo(std::byte* destination, size_t size);
  // The same behind what a string has.
  bool AppendTo(std::string& text, size_t size);
  bool Skip(size_t size);
  // The value of a field that nobody knows, groups included.
  bool SkipValue(Tag tag) { return SkipValue(tag, 0); }

  // Reads the length of a nested message and makes its end the end; Leave()
  // with `outer` goes back to the surrounding one. The nested message has to be
  // read to its end before.
  bool Enter(size_t& outer_end);
  void Leave(size_t outer_end) { end_ = outer_end; }

 private:
  static constexpr int kMaxGroupDepth = 100;  // as protobuf's own parser

  bool ReadByte(uint8_t& byte);
  // The next `size` bytes, piece by piece.
  template <typename Take>
  bool TakePieces(size_t size, Take take);
  bool SkipValue(Tag tag, int depth);
  // Moves to the next segment that has bytes.
  void NextSegment();

  absl::Span<const absl::string_view> segments_;  // after the current one
  absl::string_view current_;                     // what is left of it
  size_t position_ = 0;
  size_t end_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_WIRE_WIRE_READER_H_
