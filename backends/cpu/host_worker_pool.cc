#include "backends/cpu/host_worker_pool.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>

namespace tensord {
namespace {

// Ranges per thread: enough that threads of unequal speed end together, few
// enough that taking one costs nothing against its work.
constexpr int64_t kRangesPerThread = 4;

constexpr std::chrono::microseconds kLookOut{20};

// Whether this thread is inside some ParallelFor: an inner call runs inline.
thread_local bool t_is_inside = false;

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Whether `is_true` became so while looking out for it, briefly.
template <typename Predicate>
bool LookOutFor(Predicate is_true) {
  const auto end = std::chrono::steady_clock::now() + kLookOut;
  do {
    for (int i = 0; i < 32; ++i) {
      if (is_true()) return true;
      Pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

}  // namespace

struct HostWorkerPool::Job {
  absl::FunctionRef<void(int64_t, int64_t)> body;
  const int64_t count;
  const int64_t range;  // indices taken at a time
  std::atomic<int64_t> next{0};

  // Workers inside. Changed under the pool's mutex; atomic so that the caller
  // may look out for 0 without it.
  std::atomic<int> helper_count{0};

  // The pool's list of open jobs, guarded by its mutex.
  bool is_listed = false;
  Job* previous = nullptr;
  Job* following = nullptr;

  bool has_ranges() const {
    return next.load(std::memory_order_relaxed) < count;
  }
};

HostWorkerPool::HostWorkerPool(int concurrency)
    : concurrency_(std::max(1, concurrency)) {
  workers_.reserve(concurrency_ - 1);
  for (int i = 1; i < concurrency_; ++i) {
    workers_.emplace_back([this] { WorkerMain(); });
    pthread_setname_np(workers_.back().native_handle(), "tensord-kernel");
  }
}

HostWorkerPool::~HostWorkerPool() {
  {
    absl::MutexLock lock(&mu_);
    is_stopping_ = true;
    job_came_.SignalAll();
  }
  for (std::thread& worker : workers_) worker.join();
}

void HostWorkerPool::ParallelFor(
    int64_t count, int64_t grain,
    absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(1, grain);
  if (t_is_inside || concurrency_ == 1 || count <= grain) {
    body(0, count);
    return;
  }
  const int64_t range =
      std::max(grain, count / (kRangesPerThread * concurrency_));
  const int64_t range_count = (count - 1) / range + 1;
  Job job{body, count, range};
  {
    absl::MutexLock lock(&mu_);
    Append(job);
    // Those who look out already see the job by themselves. One of them may be
    // on its way to sleep, but it looks at the list before it does.
    const int64_t wanted = std::min<int64_t>(range_count - 1, workers_.size()) -
                           looking_count_.load(std::memory_order_relaxed);
    for (int64_t i = std::min<int64_t>(wanted, sleeping_count_); i > 0; --i) {
      job_came_.Signal();
    }
  }
  t_is_inside = true;
  RunRanges(job);
  t_is_inside = false;
  LookOutFor(
      [&job] { return job.helper_count.load(std::memory_order_relaxed) == 0; });
  absl::MutexLock lock(&mu_);
  if (job.is_listed) Unlink(job);
  while (job.helper_count.load(std::memory_order_relaxed) != 0) {
    helper_left_.Wait(&mu_);
  }
}

void HostWorkerPool::RunRanges(Job& job) {
  for (;;) {
    const int64_t begin =
        job.next.fetch_add(job.range, std::memory_order_relaxed);
    if (begin >= job.count) return;
    job.body(begin, std::min(job.count, begin + job.range));
  }
}

void HostWorkerPool::WorkerMain() {
  t_is_inside = true;
  while (Job* job = WaitForJob()) {
    RunRanges(*job);
    absl::MutexLock lock(&mu_);
    if (job->is_listed) Unlink(*job);
    // The caller frees the job only with the lock in hand, so not before this
    // block is left.
    if (job->helper_count.fetch_sub(1, std::memory_order_relaxed) == 1) {
      helper_left_.SignalAll();
    }
  }
}

HostWorkerPool::Job* HostWorkerPool::WaitForJob() {
  looking_count_.fetch_add(1, std::memory_order_relaxed);
  LookOutFor(
      [this] { return open_job_count_.load(std::memory_order_relaxed) != 0; });
  looking_count_.fetch_sub(1, std::memory_order_relaxed);
  absl::MutexLock lock(&mu_);
  for (;;) {
    if (is_stopping_) return nullptr;
    if (Job* job = TakeJob()) return job;
    ++sleeping_count_;
    job_came_.Wait(&mu_);
    --sleeping_count_;
  }
}

HostWorkerPool::Job* HostWorkerPool::TakeJob() {
  while (Job* job = first_) {
    Unlink(*job);
    if (!job->has_ranges()) continue;
    Append(*job);  // at the end: the others come first next time
    job->helper_count.fetch_add(1, std::memory_order_relaxed);
    return job;
  }
  return nullptr;
}

void HostWorkerPool::Append(Job& job) {
  job.is_listed = true;
  job.previous = last_;
  job.following = nullptr;
  (last_ != nullptr ? last_->following : first_) = &job;
  last_ = &job;
  open_job_count_.fetch_add(1, std::memory_order_relaxed);
}

void HostWorkerPool::Unlink(Job& job) {
  job.is_listed = false;
  (job.previous != nullptr ? job.previous->following : first_) = job.following;
  (job.following != nullptr ? job.following->previous : last_) = job.previous;
  open_job_count_.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tensord
