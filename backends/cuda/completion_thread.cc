#include "backends/cuda/completion_thread.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "backends/cuda/current_device.h"

namespace tensord::cuda {
namespace {

constexpr int64_t kSpinNs = 50'000;
constexpr int64_t kShortestRestNs = 20'000;
constexpr int64_t kLongestRestNs = 500'000;

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

CompletionThread::CompletionThread(int gpu, DeviceFault& fault)
    : gpu_(gpu), fault_(fault), thread_([this] { Main(); }) {}

CompletionThread::~CompletionThread() {
  {
    absl::MutexLock lock(&mu_);
    is_closing_ = true;
    pushed_.Signal();
  }
  thread_.join();
}

void CompletionThread::Add(BatchQueue* queue) {
  absl::MutexLock lock(&mu_);
  queues_.push_back(queue);
}

void CompletionThread::Remove(BatchQueue* queue) {
  std::vector<Batch> spare;
  {
    absl::MutexLock lock(&mu_);
    queues_.erase(std::find(queues_.begin(), queues_.end(), queue));
    spare.swap(queue->spare_);
  }
  for (const Batch& batch : spare) {
    if (batch.event != nullptr) cudaEventDestroy(batch.event);
  }
}

Batch CompletionThread::Spare(BatchQueue& queue) {
  absl::MutexLock lock(&mu_);
  if (queue.spare_.empty()) return {};
  Batch batch = std::move(queue.spare_.back());
  queue.spare_.pop_back();
  return batch;
}

void CompletionThread::Push(BatchQueue& queue, Batch batch) {
  absl::MutexLock lock(&mu_);
  queue.in_flight_.push_back(std::move(batch));
  ++queue.pushed_;
  ++push_count_;
  ++in_flight_count_;
  pushed_.Signal();
}

bool CompletionThread::AwaitEnd(BatchQueue& queue, uint64_t remaining,
                                absl::Time deadline) {
  absl::MutexLock lock(&mu_);
  const uint64_t target =
      queue.pushed_ > remaining ? queue.pushed_ - remaining : 0;
  while (queue.ended_ < target) {
    if (ended_.WaitWithDeadline(&mu_, deadline)) return queue.ended_ >= target;
  }
  return true;
}

uint64_t CompletionThread::InFlight(BatchQueue& queue) {
  absl::MutexLock lock(&mu_);
  return queue.pushed_ - queue.ended_;
}

void CompletionThread::Main() {
  // Short sleeps end when they should, not up to 50 us later.
  prctl(PR_SET_TIMERSLACK, 1000);
  absl::MutexLock lock(&mu_);
  if (absl::Status s = fault_.Check(MakeCurrent(gpu_), "cudaSetDevice");
      !s.ok()) {
    fault_.Lose(cudaErrorUnknown, "cudaSetDevice").IgnoreError();
  }
  int64_t last_news_ns = 0;
  uint64_t last_push = 0;
  while (true) {
    if (in_flight_count_ == 0) {
      if (is_closing_) return;
      pushed_.Wait(&mu_);
      continue;
    }
    const bool has_news = push_count_ != last_push;
    last_push = push_count_;
    if (EndFinished() || has_news) {
      last_news_ns = NowNs();
    } else {
      Rest(NowNs() - last_news_ns);
    }
  }
}

void CompletionThread::Rest(int64_t idle_ns) {
  if (idle_ns < kSpinNs) {
    mu_.Unlock();  // lanes push meanwhile
    std::this_thread::yield();
    mu_.Lock();
    return;
  }
  pushed_.WaitWithTimeout(
      &mu_, absl::Nanoseconds(
                std::clamp(idle_ns / 8, kShortestRestNs, kLongestRestNs)));
}

bool CompletionThread::EndFinished() {
  if (fault_.is_lost()) {
    EndAll(fault_.status());
    return true;
  }
  looked_at_.clear();
  for (BatchQueue* queue : queues_) {
    if (!queue->in_flight_.empty()) looked_at_.push_back(queue);
  }
  bool has_ended = false;
  for (BatchQueue* queue : looked_at_) {
    const cudaEvent_t event = queue->in_flight_.front().event;
    // A queue with a batch in flight stays; only this thread takes one out.
    mu_.Unlock();
    const cudaError_t error = cudaEventQuery(event);
    mu_.Lock();
    if (error == cudaErrorNotReady) continue;
    if (error != cudaSuccess) {
      EndAll(fault_.Lose(error, "cudaEventQuery"));
      return true;
    }
    EndFirst(*queue, absl::OkStatus());
    has_ended = true;
  }
  return has_ended;
}

void CompletionThread::EndFirst(BatchQueue& queue, absl::Status status) {
  Batch batch = std::move(queue.in_flight_.front());
  queue.in_flight_.pop_front();
  mu_.Unlock();
  if (status.ok()) {
    for (const CopyOut& copy : batch.copy_outs) {
      std::memcpy(copy.destination.data(), copy.staged,
                  copy.destination.size());
    }
  }
  batch.copy_outs.clear();
  batch.owners.clear();
  queue.staging_end_.store(batch.staging_end, std::memory_order_release);
  if (batch.completion != nullptr) batch.completion->Finish(std::move(status));
  batch.completion.reset();
  mu_.Lock();
  queue.spare_.push_back(std::move(batch));
  ++queue.ended_;
  --in_flight_count_;
  ended_.SignalAll();
}

void CompletionThread::EndAll(const absl::Status& fault) {
  while (in_flight_count_ > 0) {
    for (size_t i = 0; i < queues_.size(); ++i) {
      if (!queues_[i]->in_flight_.empty()) EndFirst(*queues_[i], fault);
    }
  }
}

}  // namespace tensord::cuda
