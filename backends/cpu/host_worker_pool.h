#ifndef TENSORD_BACKENDS_CPU_HOST_WORKER_POOL_H_
#define TENSORD_BACKENDS_CPU_HOST_WORKER_POOL_H_

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "backends/api/host_services.h"

namespace tensord {

// The threads of all CPU kernels of a process.
//
// One ParallelFor is one job on the caller's stack. The caller and the workers
// that find the job take ranges from it by an atomic counter, so a thread that
// the system holds up delays one range and not a fixed share. Several jobs are
// open at once; a worker that becomes free takes the one that was served
// longest ago. A worker without a job looks out for one for 20 us, which is
// about what waking it costs, and then sleeps.
//
// Threading: as WorkerPool says. Allocates only when it is made.
// Ownership: must outlive all calls; the destructor joins the workers.
class HostWorkerPool final : public WorkerPool {
 public:
  // `concurrency` threads in all, the caller of ParallelFor being one of them:
  // usually CpuCount(). With 1 there are no workers.
  explicit HostWorkerPool(int concurrency);
  ~HostWorkerPool() override;

  HostWorkerPool(const HostWorkerPool&) = delete;
  HostWorkerPool& operator=(const HostWorkerPool&) = delete;

  int concurrency() const override { return concurrency_; }

  void ParallelFor(
      int64_t count, int64_t grain,
      absl::FunctionRef<void(int64_t begin, int64_t end)> body) override;

 private:
  struct Job;

  void WorkerMain();
  // The next job to help with; null when the pool stops.
  Job* WaitForJob();
  Job* TakeJob() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Append(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Unlink(Job& job) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static void RunRanges(Job& job);

  const int concurrency_;
  std::vector<std::thread> workers_;

  // What a thread that looks out for work reads without the lock.
  std::atomic<int> open_job_count_{0};
  std::atomic<int> looking_count_{0};

  absl::Mutex mu_;
  absl::CondVar job_came_;
  absl::CondVar helper_left_;
  Job* first_ ABSL_GUARDED_BY(mu_) = nullptr;
  Job* last_ ABSL_GUARDED_BY(mu_) = nullptr;
  int sleeping_count_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_stopping_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace tensord

#endif  // TENSORD_BACKENDS_CPU_HOST_WORKER_POOL_H_
