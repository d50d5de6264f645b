#include "tests/engine/tune/tuning_harness.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "tests/support/matchers.h"

namespace tensord {

EngineOptions TuningOptions(std::string directory) {
  EngineOptions options;
  options.tuning.is_on = true;
  options.tuning.directory = std::move(directory);
  options.tuning.seconds_per_hour = 3600;
  options.tuning.min_uses = 1;
  options.tuning.min_estimate = absl::ZeroDuration();
  options.tuning.interval = absl::Milliseconds(1);
  // The machine may be busy.
  options.tuning.has_lowest_priority = false;
  options.tuning.trial.max_time = absl::Minutes(1);
  options.tuning.trial.max_estimate = absl::Minutes(1);
  return options;
}

GraphDef ReluGraph(int64_t extent) {
  TestGraph graph;
  if (extent > 0) {
    graph.Input("x", DType::kFloat32, {extent});
  } else {
    graph.Input("x", DType::kFloat32, {"n"});
  }
  return graph.Node("Relu", {"x"}, {"y"}).Output("y").definition();
}

bool Await(const std::function<bool()>& condition, absl::Duration timeout) {
  const absl::Time deadline = absl::Now() + timeout;
  while (!condition()) {
    if (absl::Now() >= deadline) return false;
    absl::SleepFor(absl::Milliseconds(1));
  }
  return true;
}

uint64_t DecisionCount(const TuningStats& stats) {
  return stats.faster + stats.kept + stats.skipped + stats.failed;
}

bool AwaitDecisions(Engine& engine, uint64_t count) {
  return Await([&] { return DecisionCount(engine.Tuning()) >= count; });
}

ExplainedNode ExplainFirst(Engine& engine,
                           std::shared_ptr<const LoadedGraph> graph,
                           Shape shape) {
  absl::Notification done;
  absl::StatusOr<Explanation> explained;
  engine.ExplainGraph(std::move(graph), {std::move(shape)}, DeviceWish(),
                      [&](absl::StatusOr<Explanation> explanation) {
                        explained = std::move(explanation);
                        done.Notify();
                      });
  done.WaitForNotification();
  EXPECT_THAT(explained, IsOk());
  if (!explained.ok() || explained->nodes.empty()) return {};
  return explained->nodes.front();
}

bool AwaitKernel(Engine& engine, std::shared_ptr<const LoadedGraph> graph,
                 Shape shape, const std::string& kernel) {
  return Await(
      [&] { return ExplainFirst(engine, graph, shape).kernel == kernel; });
}

std::vector<float> RunOnce(Engine& engine,
                           std::shared_ptr<const LoadedGraph> graph,
                           const std::vector<float>& x) {
  TestRun run(std::move(graph), engine, x);
  run.Start();
  return run.Output();
}

ScratchFolder::ScratchFolder() {
  std::string name = ::testing::TempDir() + "tuning_XXXXXX";
  const char* made = mkdtemp(name.data());
  EXPECT_NE(made, nullptr);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> ScratchFolder::files() const {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    paths.push_back(entry.path().string());
  }
  return paths;
}

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

void WriteWhole(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace tensord
