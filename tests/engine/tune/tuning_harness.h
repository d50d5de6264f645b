#ifndef TENSORD_TESTS_ENGINE_TUNE_TUNING_HARNESS_H_
#define TENSORD_TESTS_ENGINE_TUNE_TUNING_HARNESS_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "engine/engine.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/graphs.h"

namespace tensord {

// An engine that tunes whatever was run once, without waiting long.
EngineOptions TuningOptions(std::string directory = "");

// y = relu(x) of float32 [extent], or [n] for 0.
GraphDef ReluGraph(int64_t extent);

// Waits until `condition` holds. What the tuner does has no completion that a
// client could wait for. False after `timeout`, which no test that passes sees
// but those that show that something does not happen.
bool Await(const std::function<bool()>& condition,
           absl::Duration timeout = absl::Minutes(1));
bool AwaitDecisions(Engine& engine, uint64_t count);

uint64_t DecisionCount(const TuningStats& stats);

// The first node of what the engine would run.
ExplainedNode ExplainFirst(Engine& engine,
                           std::shared_ptr<const LoadedGraph> graph,
                           Shape shape);

// Waits until the graph runs with that kernel.
bool AwaitKernel(Engine& engine, std::shared_ptr<const LoadedGraph> graph,
                 Shape shape, const std::string& kernel);

// One run of a graph with one input; its output.
std::vector<float> RunOnce(Engine& engine,
                           std::shared_ptr<const LoadedGraph> graph,
                           const std::vector<float>& x);

// An empty folder, gone with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  const std::string& path() const { return path_; }
  // Paths of what is in it.
  std::vector<std::string> files() const;

 private:
  std::string path_;
};

std::string ReadWhole(const std::string& path);
void WriteWhole(const std::string& path, const std::string& content);

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_TUNE_TUNING_HARNESS_H_
