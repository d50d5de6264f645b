#include "server/log/trace_context.h"

#include <algorithm>
#include <cstdint>

#include "absl/random/random.h"
#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

constexpr size_t kTraceIdAt = 3;
constexpr size_t kParentIdAt = 36;
constexpr size_t kFlagsAt = 53;
constexpr size_t kSize = 55;

bool IsHex(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool IsZero(absl::string_view text) {
  return text.find_first_not_of('0') == absl::string_view::npos;
}

}  // namespace

absl::string_view TraceIdOf(absl::string_view traceparent) {
  if (traceparent.size() < kSize) return {};
  const absl::string_view version = traceparent.substr(0, 2);
  const absl::string_view trace_id = traceparent.substr(kTraceIdAt, 32);
  const absl::string_view parent_id = traceparent.substr(kParentIdAt, 16);
  const bool has_dashes = traceparent[kTraceIdAt - 1] == '-' &&
                          traceparent[kParentIdAt - 1] == '-' &&
                          traceparent[kFlagsAt - 1] == '-';
  const bool has_right_end = traceparent.size() == kSize ||
                             (version != "00" && traceparent[kSize] == '-');
  if (!has_dashes || !has_right_end || version == "ff" || !IsHex(version) ||
      !IsHex(trace_id) || !IsHex(parent_id) ||
      !IsHex(traceparent.substr(kFlagsAt, 2)) || IsZero(trace_id) ||
      IsZero(parent_id)) {
    return {};
  }
  return trace_id;
}

std::string NewTraceId() {
  absl::BitGen bits;
  // All zeros would be no id.
  const auto low =
      absl::Uniform<uint64_t>(absl::IntervalClosed, bits, 1, UINT64_MAX);
  return absl::StrCat(
      absl::Hex(absl::Uniform<uint64_t>(bits), absl::kZeroPad16),
      absl::Hex(low, absl::kZeroPad16));
}

}  // namespace tensord
