#include "engine/limit_exceeded.h"

#include <vector>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace tensord {
namespace {

constexpr char kTypeUrl[] = "tensord/LimitDetails";
constexpr int kFieldCount = 7;

}  // namespace

std::string LimitDetails::Flag() const {
  return absl::StrCat("--", absl::StrReplaceAll(limit, {{"_", "-"}}));
}

absl::Status LimitDetails::ToStatus(absl::string_view text) const {
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      text, "; the limit ", limit, " is ", maximum, " (", Flag(), ")"));
  // One field a line. The subject comes last, since it may hold anything.
  status.SetPayload(
      kTypeUrl, absl::Cord(absl::StrCat(limit, "\n", maximum, "\n", requested,
                                        "\n", unit, "\n", scope, "\n",
                                        may_retry ? 1 : 0, "\n", subject)));
  return status;
}

std::optional<LimitDetails> LimitDetails::FromStatus(
    const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kTypeUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string text(*payload);
  const std::vector<std::string> fields =
      absl::StrSplit(text, absl::MaxSplits('\n', kFieldCount - 1));
  if (fields.size() != kFieldCount) return std::nullopt;
  LimitDetails details;
  details.limit = fields[0];
  details.unit = fields[3];
  details.scope = fields[4];
  details.may_retry = fields[5] == "1";
  details.subject = fields[6];
  if (!absl::SimpleAtoi(fields[1], &details.maximum) ||
      !absl::SimpleAtoi(fields[2], &details.requested)) {
    return std::nullopt;
  }
  return details;
}

}  // namespace tensord
