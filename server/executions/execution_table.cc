#include "server/executions/execution_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/limit_exceeded.h"
#include "server/sessions/resource_error.h"
#include "server/sessions/resource_id.h"

namespace tensord {
namespace {

absl::Status RequestIdReused(absl::string_view request_id,
                             absl::string_view execution_id) {
  ResourceError error;
  error.reason = "REQUEST_ID_REUSED";
  error.metadata = {{"request_id", Escape(request_id)},
                    {"execution_id", std::string(execution_id)}};
  return error.ToStatus(
      absl::StatusCode::kInvalidArgument,
      absl::StrCat("request_id ", Quoted(request_id),
                   " came before with another request, as run ", execution_id));
}

absl::Status RunForgotten(absl::string_view execution_id) {
  ResourceError error;
  error.reason = "RESULT_EXPIRED";
  error.metadata = {{"execution_id", std::string(execution_id)}};
  return error.ToStatus(
      absl::StatusCode::kFailedPrecondition,
      absl::StrCat("the request was run as ", execution_id,
                   ", which is no longer kept; it is not run again"));
}

absl::Status TooManyRequests(const SessionLimits& limits) {
  LimitDetails details;
  details.limit = "max_session_requests";
  details.maximum = limits.max_requests;
  details.requested = limits.max_requests + 1;
  details.unit = "request_ids";
  details.scope = "session";
  details.may_retry = true;
  return details.ToStatus(
      "the session remembers as many request_ids as it may");
}

}  // namespace

absl::StatusOr<ExecutionTable::Begun> ExecutionTable::Begin(
    Request request, std::shared_ptr<Session> session, absl::Time now) {
  absl::MutexLock lock(&mu_);
  TENSORD_ASSIGN_OR_RETURN(std::optional<Begun> replay,
                           FindReplay(request, *session));
  if (replay.has_value()) return *std::move(replay);
  TENSORD_RETURN_IF_ERROR(session->BeginExecution());
  ExecutionRecord::Description description;
  description.id = NewResourceId(options_.instance);
  description.graph_id = std::move(request.graph_id);
  description.request_id = std::move(request.request_id);
  description.fingerprint = std::move(request.fingerprint);
  description.trace_id = std::move(request.trace_id);
  description.priority = request.priority;
  description.create_time = now;
  description.keep_result =
      std::min(request.keep_result.value_or(options_.result_time),
               options_.max_result_time);
  if (!description.request_id.empty()) {
    requests_[session.get()][description.request_id] = {description.fingerprint,
                                                        description.id};
  }
  // Not make_shared: what points to it weakly would keep its memory.
  Pointer record(
      new ExecutionRecord(std::move(description), std::move(session)));
  records_.Insert(record);
  return Begun{std::move(record)};
}

absl::StatusOr<std::optional<ExecutionTable::Begun>> ExecutionTable::FindReplay(
    const Request& request, const Session& session) const {
  if (request.request_id.empty()) return std::optional<Begun>();
  const auto of_session = requests_.find(&session);
  if (of_session == requests_.end()) return std::optional<Begun>();
  const Requests& known = of_session->second;
  const auto found = known.find(request.request_id);
  if (found == known.end()) {
    if (static_cast<int64_t>(known.size()) >= session.limits().max_requests) {
      return TooManyRequests(session.limits());
    }
    return std::optional<Begun>();
  }
  const KnownRequest& first = found->second;
  if (first.fingerprint != request.fingerprint) {
    return RequestIdReused(request.request_id, first.execution_id);
  }
  Pointer record = records_.Find(first.execution_id);
  if (record == nullptr) return RunForgotten(first.execution_id);
  return std::optional<Begun>(Begun{std::move(record), true});
}

void ExecutionTable::End(const Pointer& record, absl::Status status,
                         std::vector<KeptOutput> outputs, bool is_refused,
                         absl::Time now) {
  const absl::Duration keep = record->description().keep_result;
  const bool stays = keep > absl::ZeroDuration();
  {
    absl::MutexLock lock(&mu_);
    // Under the lock, since whoever sees the run as ended may drop its result,
    // whose bytes must have been counted by then or never be.
    const uint64_t bytes =
        record->SetEnd(std::move(status), std::move(outputs), now, now + keep);
    NoteRequestEnd(*record, is_refused,
                   now + std::max(keep, options_.max_result_time));
    // The session may have been closed since: then nobody looks at it again.
    if (stays && !record->session()->is_closed()) {
      result_bytes_ += bytes;
      ended_.push_back(record);
      if (bytes > 0) with_result_.push_back(record);
    } else {
      records_.Remove(record->id());
    }
  }
  record->session()->EndExecution(now);
  record->Announce();
  MakeRoom(now);
}

void ExecutionTable::NoteRequestEnd(const ExecutionRecord& record,
                                    bool is_refused, absl::Time forget_time) {
  const std::string& request_id = record.description().request_id;
  if (request_id.empty()) return;
  const auto of_session = requests_.find(record.session().get());
  if (of_session == requests_.end()) return;
  const auto known = of_session->second.find(request_id);
  if (known == of_session->second.end()) return;
  if (is_refused) {
    of_session->second.erase(known);
    if (of_session->second.empty()) requests_.erase(of_session);
  } else {
    known->second.forget_time = forget_time;
  }
}

void ExecutionTable::MakeRoom(absl::Time now) {
  for (;;) {
    Pointer oldest;
    {
      absl::MutexLock lock(&mu_);
      if (static_cast<int64_t>(ended_.size()) > options_.max_ended_records) {
        oldest = ended_.front().lock();
        ended_.pop_front();
        if (oldest != nullptr) records_.Remove(oldest->id());
      } else if (result_bytes_ > options_.max_result_bytes &&
                 !with_result_.empty()) {
        oldest = with_result_.front().lock();
        with_result_.pop_front();
      } else {
        return;
      }
    }
    if (oldest != nullptr) DropResult(*oldest, now);
  }
}

void ExecutionTable::DropResult(ExecutionRecord& record, absl::Time now) {
  const uint64_t bytes = record.DropResult(now);
  absl::MutexLock lock(&mu_);
  result_bytes_ -= bytes;
}

void ExecutionTable::Forget(const ExecutionRecord& record) {
  Pointer removed;
  absl::MutexLock lock(&mu_);
  removed = records_.Remove(record.id());
}

absl::StatusOr<ExecutionTable::Pointer> ExecutionTable::Find(
    absl::string_view id, absl::string_view principal) const {
  absl::MutexLock lock(&mu_);
  Pointer record = records_.Find(id);
  if (record == nullptr ||
      record->session()->description().principal != principal) {
    return NoResource("execution", id);
  }
  return record;
}

std::vector<std::pair<ExecutionTable::Sequence, ExecutionTable::Pointer>>
ExecutionTable::List(
    absl::string_view principal, Sequence before, int limit,
    absl::FunctionRef<bool(const ExecutionRecord&)> wanted) const {
  std::vector<std::pair<Sequence, Pointer>> page;
  absl::MutexLock lock(&mu_);
  records_.VisitBackwards(
      before, [&](Sequence sequence, const Pointer& record) {
        if (record->session()->description().principal == principal &&
            wanted(*record)) {
          page.emplace_back(sequence, record);
        }
        return static_cast<int>(page.size()) < limit;
      });
  return page;
}

std::vector<ExecutionTable::Pointer> ExecutionTable::TakeOpenOf(
    const Session& session) {
  std::vector<Pointer> open, ended;
  {
    absl::MutexLock lock(&mu_);
    for (Pointer& record : records_.OwnedBy(session)) {
      (record->has_ended() ? ended : open).push_back(std::move(record));
    }
    for (const Pointer& record : ended) records_.Remove(record->id());
    requests_.erase(&session);
  }
  for (const Pointer& record : ended) DropResult(*record, absl::Now());
  return open;
}

void ExecutionTable::RemoveExpired(absl::Time now) {
  std::vector<Pointer> expired;
  {
    absl::MutexLock lock(&mu_);
    std::vector<Pointer> forgotten;
    records_.VisitForwards([&](const Pointer& record) {
      const ExecutionRecord::View view = record->Look();
      if (!view.end.has_value()) return true;
      const absl::Time until = *view.end + record->description().keep_result;
      if (until <= now) expired.push_back(record);
      if (until + options_.record_time <= now) forgotten.push_back(record);
      return true;
    });
    for (const Pointer& record : forgotten) records_.Remove(record->id());
    for (auto it = requests_.begin(); it != requests_.end();) {
      absl::erase_if(it->second, [&](const auto& request) {
        return request.second.forget_time <= now;
      });
      if (it->second.empty()) {
        requests_.erase(it++);
      } else {
        ++it;
      }
    }
    for (auto* ends : {&ended_, &with_result_}) {
      while (!ends->empty() && ends->front().expired()) ends->pop_front();
    }
  }
  for (const Pointer& record : expired) DropResult(*record, now);
}

int64_t ExecutionTable::count() const {
  absl::MutexLock lock(&mu_);
  return records_.size();
}

uint64_t ExecutionTable::result_bytes() const {
  absl::MutexLock lock(&mu_);
  return result_bytes_;
}

}  // namespace tensord
