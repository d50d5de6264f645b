#ifndef TENSORD_SERVER_RPC_READINESS_H_
#define TENSORD_SERVER_RPC_READINESS_H_

#include <grpcpp/health_check_service_interface.h>

#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "server/log/server_logger.h"

namespace tensord {

// Keeps grpc.health.v1 telling the truth.
//
// Ready, under "" and under each service's name: SERVING while the daemon is
// not draining and has a healthy device in use that answers: it has ended runs
// or probes of late, and what waits for it moves (--probe-interval,
// --max-stall-time). Alive, under "liveness":
// NOT_SERVING only where a restart is the cure: every accelerator that was
// configured is lost, or, where there is none, every device. A fault stays for
// the life of a process, and while the CPU goes on a client sees slow answers
// rather than none.
//
// Threading: a thread of its own looks at the devices five times a second;
//   every method may be called from any thread.
// Ownership: borrows engine, log and health service, which outlive it.
class Readiness {
 public:
  static constexpr char kLivenessName[] = "liveness";

  Readiness(const Engine& engine, ServerLogger& log,
            grpc::HealthCheckServiceInterface& health,
            std::vector<std::string> service_names);
  ~Readiness();
  Readiness(const Readiness&) = delete;
  Readiness& operator=(const Readiness&) = delete;

  // From now on NOT_SERVING; said before it returns.
  void StopServing() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run();
  void Update() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void UpdateLiveness() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Engine& engine_;
  ServerLogger& log_;
  grpc::HealthCheckServiceInterface& health_;
  const std::vector<std::string> service_names_;

  absl::Mutex mu_;
  bool is_draining_ ABSL_GUARDED_BY(mu_) = false;
  bool is_over_ ABSL_GUARDED_BY(mu_) = false;
  bool is_serving_ ABSL_GUARDED_BY(mu_) = false;
  bool is_alive_ ABSL_GUARDED_BY(mu_) = true;
  std::thread thread_;
};

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_READINESS_H_
