#include "engine/limit_exceeded.h"

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "engine/status_payload.h"

namespace tensord {
namespace {

constexpr char kTypeUrl[] = "tensord/LimitDetails";

}  // namespace

std::string LimitDetails::Flag() const {
  return absl::StrCat("--", absl::StrReplaceAll(limit, {{"_", "-"}}));
}

absl::Status LimitDetails::ToStatus(absl::string_view text) const {
  absl::Status status = absl::ResourceExhaustedError(absl::StrCat(
      text, "; the limit ", limit, " is ", maximum, " (", Flag(), ")"));
  PayloadWriter payload;
  payload.Add(limit);
  payload.Add(maximum);
  payload.Add(requested);
  payload.Add(unit);
  payload.Add(scope);
  payload.Add(subject);
  payload.Add(may_retry ? 1 : 0);
  payload.Add(retry_ns);
  status.SetPayload(kTypeUrl, payload.Take());
  return status;
}

std::optional<LimitDetails> LimitDetails::FromStatus(
    const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kTypeUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  PayloadReader reader(bytes);
  LimitDetails details;
  details.limit = reader.Text();
  details.maximum = reader.Number();
  details.requested = reader.Number();
  details.unit = reader.Text();
  details.scope = reader.Text();
  details.subject = reader.Text();
  details.may_retry = reader.Number() != 0;
  details.retry_ns = reader.Number();
  if (!reader.ok()) return std::nullopt;
  return details;
}

}  // namespace tensord
