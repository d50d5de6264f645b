#include "tools/tensordctl/load.h"

#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "clients/cpp/error_details.h"
#include "clients/cpp/execution_stream.h"

namespace tensord::ctl {
namespace {

constexpr absl::Duration kProgressPeriod = absl::Milliseconds(200);

// After which a call of a closed loop is made again when it failed: a daemon
// that is away or full is not asked in a tight loop.
constexpr absl::Duration kPauseAfterError = absl::Milliseconds(10);

class Load {
 public:
  using Requests = std::vector<std::shared_ptr<const v1::ExecuteRequest>>;

  Load(absl::Span<Client> clients, const Requests& requests,
       const LoadOptions& options,
       const std::function<void(const LoadProgress&)>& progress)
      : clients_(clients),
        requests_(requests),
        options_(options),
        progress_(progress) {
    result_.by_request.resize(requests.size());
    if (!options.uses_streams) return;
    // Send() never waits: who is to be made is decided here.
    const StreamOptions stream = {
        .max_open = std::max(options.max_open, options.concurrency) + 1};
    for (Client& client : clients) {
      streams_.push_back(client.OpenStream(stream));
    }
  }

  LoadResult Run() {
    begin_ = absl::Now();
    measure_begin_ = begin_ + options_.warm_up;
    end_ = measure_begin_ + options_.duration;
    if (options_.rate > 0) {
      RunOpenLoop();
    } else {
      RunClosedLoop();
    }
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(
          +[](int64_t* open) { return *open == 0; }, &open_count_));
    }
    // Their status is that of their requests.
    for (const auto& stream : streams_) stream->Close().IgnoreError();
    absl::MutexLock lock(&mu_);
    result_.measured = options_.duration;
    return std::move(result_);
  }

 private:
  void RunClosedLoop() {
    for (int i = 0; i < options_.concurrency; ++i) Begin(absl::Now());
    for (absl::Time now = absl::Now(); now < end_; now = absl::Now()) {
      ShowProgress(now);
      absl::SleepFor(std::min(kPauseAfterError, end_ - now));
      int64_t paused_count = 0;
      {
        absl::MutexLock lock(&mu_);
        std::swap(paused_count, paused_count_);
      }
      for (int64_t i = 0; i < paused_count; ++i) Begin(absl::Now());
    }
  }

  // Due times are multiples of the period from the beginning, so that what is
  // late once does not make all that follow late.
  void RunOpenLoop() {
    const absl::Duration period = absl::Seconds(1) / options_.rate;
    for (int64_t i = 0;; ++i) {
      const absl::Time due = begin_ + i * period;
      if (due >= end_) break;
      for (absl::Time now = absl::Now(); now < due; now = absl::Now()) {
        ShowProgress(now);
        absl::SleepFor(std::min(due - now, kProgressPeriod));
      }
      if (HasRoom(due)) Begin(due);
    }
  }

  bool HasRoom(absl::Time due) {
    absl::MutexLock lock(&mu_);
    if (open_count_ < options_.max_open) return true;
    if (due >= measure_begin_) ++result_.not_made_count;
    return false;
  }

  void ShowProgress(absl::Time now) {
    if (now < next_progress_) return;
    next_progress_ = now + kProgressPeriod;
    LoadProgress progress = {.elapsed = now - begin_, .whole = end_ - begin_};
    {
      absl::MutexLock lock(&mu_);
      progress.done_count = result_.total.done_count;
      progress.error_count = result_.total.error_count();
      progress.open_count = open_count_;
    }
    progress_(progress);
  }

  void Begin(absl::Time due) {
    size_t turn;
    {
      absl::MutexLock lock(&mu_);
      turn = next_turn_++;
      ++open_count_;
    }
    const size_t request = turn % requests_.size();
    // Not the same client for each request, whatever the two counts are.
    const size_t client = (turn / requests_.size()) % clients_.size();
    auto done = [this, request,
                 due](const absl::StatusOr<v1::ExecuteResponse>& response) {
      Done(request, due, response.status());
    };
    if (streams_.empty()) {
      clients_[client].ExecuteAsync(requests_[request], std::move(done),
                                    {.timeout = options_.timeout});
      return;
    }
    const absl::Status status =
        streams_[client]->Send(*requests_[request], std::move(done));
    if (!status.ok()) Done(request, due, status);
  }

  void Done(size_t request, absl::Time due, const absl::Status& status) {
    const absl::Time now = absl::Now();
    {
      absl::MutexLock lock(&mu_);
      for (LoadCounts* counts :
           {&result_.total, &result_.by_request[request]}) {
        Count(*counts, due, now, status);
      }
      if (due >= measure_begin_ && absl::IsResourceExhausted(status) &&
          !RetryDelay(status)) {
        ++result_.refused_without_delay_count;
      }
      // At once only after an answer, and before this call is taken off, so
      // that the number of open ones does not come to nothing in between.
      const bool is_closed_loop = options_.rate <= 0;
      if (!is_closed_loop || now >= end_ || !status.ok()) {
        if (is_closed_loop && now < end_) ++paused_count_;
        --open_count_;
        return;
      }
    }
    Begin(now);
    absl::MutexLock lock(&mu_);
    --open_count_;
  }

  void Count(LoadCounts& counts, absl::Time due, absl::Time now,
             const absl::Status& status) const {
    if (status.ok() && now >= measure_begin_ && now < end_) {
      ++counts.done_count;
    }
    if (due < measure_begin_) return;
    if (status.ok()) {
      counts.latency.Add(absl::ToInt64Nanoseconds(now - due));
      return;
    }
    ++counts.errors[absl::StatusCodeToString(status.code())];
    counts.first_error.Update(status);
  }

  const absl::Span<Client> clients_;
  const Requests& requests_;
  const LoadOptions& options_;
  const std::function<void(const LoadProgress&)>& progress_;
  std::vector<std::unique_ptr<ExecutionStream>> streams_;
  absl::Time begin_, measure_begin_, end_;
  absl::Time next_progress_ = absl::InfinitePast();

  absl::Mutex mu_;
  LoadResult result_ ABSL_GUARDED_BY(mu_);
  size_t next_turn_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t open_count_ ABSL_GUARDED_BY(mu_) = 0;
  // Calls of the closed loop that wait after an error.
  int64_t paused_count_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace

int64_t LoadCounts::error_count() const {
  int64_t count = 0;
  for (const auto& [code, n] : errors) count += n;
  return count;
}

double LoadResult::rate() const {
  return static_cast<double>(total.done_count) /
         absl::ToDoubleSeconds(measured);
}

LoadResult RunLoad(
    absl::Span<Client> clients,
    const std::vector<std::shared_ptr<const v1::ExecuteRequest>>& requests,
    const LoadOptions& options,
    const std::function<void(const LoadProgress&)>& progress) {
  return Load(clients, requests, options, progress).Run();
}

}  // namespace tensord::ctl
