#include "engine/pool/compile_pool.h"

#include <pthread.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/limit_exceeded.h"
#include "engine/pool/low_priority.h"

namespace tensord {

CompilePool::CompilePool(int thread_count, int64_t max_queued)
    : max_queued_(max_queued) {
  for (int i = 0; i < thread_count; ++i) {
    threads_.emplace_back([this] { Work(); });
  }
}

CompilePool::~CompilePool() {
  Close();
  Join();
}

void CompilePool::Submit(Task task) {
  absl::Status refusal;
  {
    absl::MutexLock lock(&mu_);
    const int64_t queued = static_cast<int64_t>(tasks_.size());
    if (is_closing_) {
      refusal = absl::UnavailableError("the daemon is shutting down");
    } else if (queued >= max_queued_) {
      refusal =
          LimitDetails{.limit = "max_queued_compilations",
                       .maximum = max_queued_,
                       .requested = queued + 1,
                       .unit = "compilations",
                       .scope = "compiler",
                       .may_retry = true}
              .ToStatus(absl::StrCat("the compiler has ", queued,
                                     " compilations queued and was asked for "
                                     "one more"));
    } else {
      tasks_.push_back(std::move(task));
      return;
    }
  }
  std::move(task)(refusal);
}

int64_t CompilePool::queued_count() const {
  absl::MutexLock lock(&mu_);
  return static_cast<int64_t>(tasks_.size());
}

void CompilePool::Close() {
  std::deque<Task> refused;
  {
    absl::MutexLock lock(&mu_);
    is_closing_ = true;
    refused.swap(tasks_);
  }
  for (Task& task : refused) {
    std::move(task)(absl::UnavailableError("the daemon is shutting down"));
  }
}

void CompilePool::Join() {
  for (std::thread& thread : threads_) {
    if (thread.joinable()) thread.join();
  }
}

void CompilePool::Work() {
  pthread_setname_np(pthread_self(), "compiler");
  LowerPriority();
  for (;;) {
    Task task;
    {
      absl::MutexLock lock(&mu_);
      mu_.Await(absl::Condition(this, &CompilePool::HasWork));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    std::move(task)(absl::OkStatus());
  }
}

}  // namespace tensord
