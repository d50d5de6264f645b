#ifndef TENSORD_TESTS_ENGINE_ENGINE_HARNESS_H_
#define TENSORD_TESTS_ENGINE_ENGINE_HARNESS_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/synchronization/notification.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/engine.h"
#include "tests/support/tensor.h"

namespace tensord {

// An engine over the test's backends, and what it borrows.
// Threading: the test's own thread, but for engine().
class EngineHarness {
 public:
  EngineHarness(std::vector<Backend*> backends, std::vector<DeviceId> devices,
                EngineOptions options = {});

  Engine& engine() { return *engine_; }
  op_profile::PhaseProfile& phases() { return phases_; }
  // Ends the engine before the harness does.
  void Destroy() { engine_.reset(); }

  // Waits for the outcome.
  absl::StatusOr<Engine::SubmitOutcome> Submit(
      const GraphId& id, GraphDef definition,
      const std::string& principal = "ann",
      std::vector<std::vector<Shape>> compile_for = {});
  // The graph; a refusal fails the test.
  std::shared_ptr<const LoadedGraph> MustSubmit(const GraphId& id,
                                                GraphDef definition);

  // The status of one device.
  DeviceStatus StatusOf(DeviceId device);

 private:
  op_profile::OpProfile profile_;
  op_profile::PhaseProfile phases_;
  HostWorkerPool workers_{2};
  std::unique_ptr<Engine> engine_;
};

// y = x + weight, `node_count` times over; x is float32 [extent], or [n] for an
// extent of 0. Every node has a weight of its own, so that nothing is shared.
GraphDef AddChain(int node_count, float weight, int64_t extent = 4);

// One execution, with its answer. Counts how often it was answered.
class TestRun {
 public:
  TestRun(std::shared_ptr<const LoadedGraph> graph, Engine& engine,
          const std::vector<float>& x);
  ~TestRun();

  Execution& execution() { return execution_; }
  void Start();
  // Runs on the thread that answers, before anybody who waits goes on.
  void OnDone(std::function<void(TestRun&)> hook) { hook_ = std::move(hook); }
  // For a run that outlives its engine, whose memory it would hold.
  void ReleaseBuffersWhenDone() { releases_buffers_ = true; }
  bool is_done() const { return done_.HasBeenNotified(); }
  int answer_count() const { return answers_.load(); }

  // The status, once it is there.
  const absl::Status& Wait();
  // Output 0; an error fails the test.
  std::vector<float> Output();

 private:
  static void Answered(Execution& execution);

  Engine& engine_;
  Execution execution_;
  std::function<void(TestRun&)> hook_;
  bool is_started_ = false;
  bool releases_buffers_ = false;
  std::atomic<int> answers_{0};
  absl::Notification done_;
};

// Copies `x` into pooled memory.
HostValue FloatInput(Engine& engine, const std::vector<float>& x);

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_ENGINE_HARNESS_H_
