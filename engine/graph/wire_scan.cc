#include "engine/graph/wire_scan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

enum WireType : uint32_t {
  kVarint = 0,
  kFixed64 = 1,
  kLengthDelimited = 2,
  kFixed32 = 5,
};

constexpr uint32_t kMaxFieldNumber = (1u << 29) - 1;

// A message that is not yet read to its end.
struct OpenMessage {
  uint8_t type;
  size_t end;
  std::array<int64_t, kMaxWireCounters> counts{};
};

class WireScanner {
 public:
  WireScanner(absl::string_view bytes, const WireSchema& schema)
      : bytes_(bytes), schema_(schema) {}

  absl::Status Scan() {
    TENSORD_RETURN_IF_ERROR(Open(schema_.root, bytes_.size()));
    while (!open_.empty()) {
      if (at_ == open_.back().end) {
        if (open_.back().type == schema_.graph) --graph_depth_;
        open_.pop_back();
      } else {
        TENSORD_RETURN_IF_ERROR(ReadField());
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Open(uint8_t type, size_t end) {
    if (static_cast<int>(open_.size()) >=
        WireDepthLimit(schema_.max_nesting_depth)) {
      return LimitExceeded("graph", open_.size() + 1, "levels of messages",
                           "max_nesting_depth", schema_.max_nesting_depth);
    }
    // The outermost graph is no nested one.
    if (type == schema_.graph &&
        ++graph_depth_ > schema_.max_nesting_depth + 1) {
      return LimitExceeded("graph", graph_depth_ - 1, "levels of nested graphs",
                           "max_nesting_depth", schema_.max_nesting_depth);
    }
    open_.push_back(OpenMessage{type, end});
    return absl::OkStatus();
  }

  absl::Status ReadField() {
    field_start_ = at_;
    const size_t end = open_.back().end;
    const std::optional<uint64_t> tag = ReadVarint(end);
    if (!tag.has_value()) return Malformed("has no whole field tag");
    const uint64_t number = *tag >> 3;
    if (number == 0 || number > kMaxFieldNumber) {
      return Malformed(absl::StrCat("has field number ", number));
    }
    const WireField* field = Find(static_cast<uint32_t>(number));
    switch (static_cast<uint32_t>(*tag & 7)) {
      case kVarint:
        if (!ReadVarint(end).has_value()) {
          return Malformed(
              absl::StrCat("field ", number, " has no whole value"));
        }
        if (field != nullptr && field->kind == WireField::Kind::kIntegers) {
          return CountElements(*field, 1);
        }
        return absl::OkStatus();
      case kFixed64:
        return Skip(number, 8, end);
      case kFixed32:
        return Skip(number, 4, end);
      case kLengthDelimited: {
        const std::optional<uint64_t> length = ReadVarint(end);
        if (!length.has_value()) {
          return Malformed(
              absl::StrCat("field ", number, " has no whole length"));
        }
        if (*length > end - at_) {
          return Malformed(absl::StrCat("field ", number, " has ", *length,
                                        " bytes; ", end - at_, " are left"));
        }
        return ReadDelimited(field, static_cast<size_t>(*length));
      }
      default:
        return Malformed(
            absl::StrCat("field ", number, " has wire type ", *tag & 7));
    }
  }

  absl::Status ReadDelimited(const WireField* field, size_t length) {
    const bool is_packed =
        field != nullptr && field->kind == WireField::Kind::kIntegers;
    if (is_packed) {
      const absl::string_view packed = bytes_.substr(at_, length);
      at_ += length;
      // Each varint has one byte without the continuation bit: its last.
      return CountElements(
          *field, std::count_if(packed.begin(), packed.end(), [](char byte) {
            return (static_cast<uint8_t>(byte) & 0x80) == 0;
          }));
    }
    if (++object_count_ > kMaxWireObjects) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "graph has more than ", kMaxWireObjects, " messages and strings"));
    }
    if (field != nullptr) TENSORD_RETURN_IF_ERROR(CountElements(*field, 1));
    if (field != nullptr && field->kind == WireField::Kind::kMessage) {
      return Open(field->child, at_ + length);
    }
    at_ += length;
    return absl::OkStatus();
  }

  absl::Status Skip(uint64_t number, size_t size, size_t end) {
    if (end - at_ < size) {
      return Malformed(absl::StrCat("field ", number, " needs ", size,
                                    " bytes; ", end - at_, " are left"));
    }
    at_ += size;
    return absl::OkStatus();
  }

  absl::Status CountElements(const WireField& field, int64_t added) {
    if (field.counter == WireField::kNoCounter) return absl::OkStatus();
    const WireCounter& counter = schema_.counters[field.counter];
    int64_t& count = counter.is_per_message ? open_.back().counts[field.counter]
                                            : counts_[field.counter];
    count += added;
    if (count <= counter.limit) return absl::OkStatus();
    return LimitExceeded(
        counter.is_per_message
            ? absl::StrCat(schema_.message_names[open_.back().type],
                           " at byte ", field_start_)
            : "graph",
        count, counter.unit, counter.limit_name, counter.limit);
  }

  // Nothing for one that is longer than 10 bytes or does not end before `end`.
  std::optional<uint64_t> ReadVarint(size_t end) {
    uint64_t value = 0;
    for (int shift = 0; shift < 70 && at_ < end; shift += 7) {
      const auto byte = static_cast<uint8_t>(bytes_[at_++]);
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }

  const WireField* Find(uint32_t number) const {
    const uint8_t type = open_.back().type;
    for (const WireField& field : schema_.fields) {
      if (field.message == type && field.number == number) return &field;
    }
    return nullptr;
  }

  absl::Status Malformed(absl::string_view what) const {
    return absl::InvalidArgumentError(
        absl::StrCat(schema_.message_names[open_.back().type], " at byte ",
                     field_start_, " of ", bytes_.size(), ": ", what));
  }

  const absl::string_view bytes_;
  const WireSchema& schema_;
  size_t at_ = 0;
  size_t field_start_ = 0;
  std::vector<OpenMessage> open_;
  int64_t graph_depth_ = 0;
  int64_t object_count_ = 0;
  std::array<int64_t, kMaxWireCounters> counts_{};
};

}  // namespace

int WireDepthLimit(int64_t max_nesting_depth) {
  constexpr int64_t kMessagesPerGraph = 3;  // node, attribute, graph
  constexpr int64_t kElsewhere = 24;        // model, types, dims
  return static_cast<int>(std::min<int64_t>(
      std::max<int64_t>(max_nesting_depth, 0) * kMessagesPerGraph + kElsewhere,
      400));
}

absl::Status ScanWire(absl::string_view bytes, const WireSchema& schema) {
  return WireScanner(bytes, schema).Scan();
}

}  // namespace tensord
