#include "server/sessions/resource_error.h"

#include <cstdint>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/status_payload.h"

namespace tensord {
namespace {

constexpr char kTypeUrl[] = "tensord/ResourceError";

}  // namespace

absl::Status ResourceError::ToStatus(absl::StatusCode code,
                                     absl::string_view text) const {
  absl::Status status(code, text);
  PayloadWriter payload;
  payload.Add(reason);
  payload.Add(resource_type);
  payload.Add(resource_name);
  payload.Add(field);
  payload.Add(static_cast<int64_t>(metadata.size()));
  for (const auto& [key, value] : metadata) {
    payload.Add(key);
    payload.Add(value);
  }
  status.SetPayload(kTypeUrl, payload.Take());
  return status;
}

std::optional<ResourceError> ResourceError::FromStatus(
    const absl::Status& status) {
  const absl::optional<absl::Cord> payload = status.GetPayload(kTypeUrl);
  if (!payload.has_value()) return std::nullopt;
  const std::string bytes(*payload);
  PayloadReader reader(bytes);
  ResourceError error;
  error.reason = reader.Text();
  error.resource_type = reader.Text();
  error.resource_name = reader.Text();
  error.field = reader.Text();
  const int64_t count = reader.Number();
  for (int64_t i = 0; i < count && reader.ok(); ++i) {
    std::string key = reader.Text();
    error.metadata.emplace_back(std::move(key), reader.Text());
  }
  if (!reader.ok()) return std::nullopt;
  return error;
}

absl::Status NoResource(absl::string_view type, absl::string_view name) {
  ResourceError error;
  error.resource_type = std::string(type);
  error.resource_name = Escape(name);
  return error.ToStatus(absl::StatusCode::kNotFound,
                        absl::StrCat("there is no ", type, " ", Quoted(name)));
}

absl::Status WrongField(absl::string_view field, absl::string_view what) {
  ResourceError error;
  error.field = std::string(field);
  return error.ToStatus(absl::StatusCode::kInvalidArgument,
                        absl::StrCat(field, ": ", what));
}

absl::Status SessionIsClosed(absl::string_view session_id) {
  ResourceError error;
  error.reason = "SESSION_CLOSED";
  error.metadata = {{"session_id", std::string(session_id)}};
  return error.ToStatus(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("session ", session_id, " was closed, or has expired"));
}

}  // namespace tensord
