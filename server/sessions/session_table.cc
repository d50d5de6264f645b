#include "server/sessions/session_table.h"

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/limit_exceeded.h"
#include "server/sessions/resource_error.h"
#include "server/sessions/resource_id.h"

namespace tensord {
namespace {

// As session_service.proto says.
constexpr size_t kMaxDisplayNameBytes = 128;
constexpr absl::Duration kMinTimeToLive = absl::Seconds(1);

}  // namespace

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Create(
    absl::string_view principal, absl::string_view display_name,
    std::optional<absl::Duration> time_to_live, absl::Time now) {
  if (display_name.size() > kMaxDisplayNameBytes) {
    return WrongField("display_name",
                      absl::StrCat(display_name.size(), " bytes; give at most ",
                                   kMaxDisplayNameBytes));
  }
  const absl::Duration lives = time_to_live.value_or(options_.time_to_live);
  if (lives < kMinTimeToLive || lives > options_.max_time_to_live) {
    return WrongField(
        "time_to_live",
        absl::StrCat(absl::FormatDuration(lives),
                     " is out of range; give 1s to ",
                     absl::FormatDuration(options_.max_time_to_live),
                     ", the limit max_session_time (--max-session-time)"));
  }
  absl::MutexLock lock(&mu_);
  TENSORD_RETURN_IF_ERROR(MakeRoom(principal));
  return Add({.id = NewResourceId(options_.instance),
              .principal = std::string(principal),
              .display_name = std::string(display_name),
              .create_time = now,
              .time_to_live = lives});
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Find(
    absl::string_view id, absl::string_view principal, absl::Time now) {
  absl::MutexLock lock(&mu_);
  TENSORD_ASSIGN_OR_RETURN(std::shared_ptr<Session> session,
                           FindLocked(id, principal, now));
  session->Touch(now);
  return session;
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::OfConnection(
    absl::string_view principal, absl::string_view connection, absl::Time now) {
  Connection key(connection, principal);
  absl::MutexLock lock(&mu_);
  const auto found = by_connection_.find(key);
  if (found != by_connection_.end()) {
    const std::shared_ptr<Session>& session = by_id_.at(found->second);
    if (session->expire_time() > now) {
      session->Touch(now);
      return session;
    }
    // It stays for TakeExpired(), and the connection gets another.
    connections_.erase(session->id());
    by_connection_.erase(found);
  }
  TENSORD_RETURN_IF_ERROR(MakeRoom(principal));
  std::shared_ptr<Session> session =
      Add({.id = NewResourceId(options_.instance),
           .principal = std::string(principal),
           .create_time = now,
           .time_to_live = options_.time_to_live,
           .is_default = true});
  by_connection_[key] = session->id();
  connections_[session->id()] = std::move(key);
  return session;
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::Take(
    absl::string_view id, absl::string_view principal, absl::Time now) {
  absl::MutexLock lock(&mu_);
  TENSORD_ASSIGN_OR_RETURN(std::shared_ptr<Session> session,
                           FindLocked(id, principal, now));
  Erase(*session);
  return session;
}

std::vector<std::shared_ptr<Session>> SessionTable::TakeExpired(
    absl::Time now) {
  std::vector<std::shared_ptr<Session>> expired;
  absl::MutexLock lock(&mu_);
  for (const auto& [id, session] : by_id_) {
    if (session->expire_time() <= now) expired.push_back(session);
  }
  for (const auto& session : expired) Erase(*session);
  return expired;
}

int64_t SessionTable::count() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int64_t>(by_id_.size());
}

// A principal at its limit loses sessions of connections that own nothing,
// which no client can notice.
absl::Status SessionTable::MakeRoom(absl::string_view principal) {
  const auto count = counts_.find(principal);
  if (count == counts_.end() || count->second < options_.max_sessions) {
    return absl::OkStatus();
  }
  std::vector<std::shared_ptr<Session>> unused;
  for (const auto& [id, session] : by_id_) {
    if (session->description().principal == principal &&
        session->description().is_default && session->owned_count() == 0 &&
        session->open_execution_count() == 0 &&
        session->resident_bytes() == 0) {
      unused.push_back(session);
    }
  }
  // One whose call is under way may still be given something: that fails then.
  for (const auto& session : unused) {
    session->Close();
    Erase(*session);
  }
  if (!unused.empty()) return absl::OkStatus();
  LimitDetails details;
  details.limit = "max_sessions";
  details.maximum = options_.max_sessions;
  details.requested = options_.max_sessions + 1;
  details.unit = "sessions";
  details.scope = "principal";
  details.may_retry = true;
  return details.ToStatus("there are as many sessions as may be");
}

std::shared_ptr<Session> SessionTable::Add(Session::Description description) {
  ++counts_[description.principal];
  auto session = std::make_shared<Session>(std::move(description),
                                           options_.limits, resident_bytes_);
  by_id_[session->id()] = session;
  return session;
}

void SessionTable::Erase(const Session& session) {
  const auto connection = connections_.find(session.id());
  if (connection != connections_.end()) {
    by_connection_.erase(connection->second);
    connections_.erase(connection);
  }
  const auto count = counts_.find(session.description().principal);
  if (--count->second == 0) counts_.erase(count);
  by_id_.erase(session.id());
}

absl::StatusOr<std::shared_ptr<Session>> SessionTable::FindLocked(
    absl::string_view id, absl::string_view principal, absl::Time now) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end() ||
      found->second->description().principal != principal ||
      found->second->expire_time() <= now) {
    return NoResource("session", id);
  }
  return found->second;
}

}  // namespace tensord
