#ifndef TENSORD_BENCH_MODELS_MODEL_ENGINE_H_
#define TENSORD_BENCH_MODELS_MODEL_ENGINE_H_

#include <cstdint>
#include <memory>
#include <semaphore>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cpu/host_worker_pool.h"
#include "bench/models/bench_case.h"
#include "engine/compiled/explain.h"
#include "engine/engine.h"
#include "engine/profile/op_profile.h"

namespace tensord::bench {

// An engine over the CPU, and one model in it, with an execution for each data
// set that is used again and again: inputs stay in place, outputs come from
// the engine's pool and go back to it, as in a daemon that serves one client.
//
// Threading: one thread. A graph without control flow runs on it; a staged one
//   runs on a lane's thread while this one waits.
// Ownership: owns everything; copies the data sets' tensors.
class ModelEngine {
 public:
  // `threads` work on a kernel; with 1 there is no second one.
  static absl::StatusOr<std::unique_ptr<ModelEngine>> Create(
      int threads, std::set<std::string> disabled_passes = {});

  // Reads an ONNX file, and gives every data set an execution. Compilation is
  // the first run's. Errors: the file's, the engine's, a data set's.
  absl::Status Load(const std::string& path,
                    const std::vector<DataSet>& data_sets);

  // Runs data set `set`; the nanoseconds from Start to the answer.
  absl::StatusOr<int64_t> Run(int set);

  // The same with every launch traced; the rows are in trace() until the next
  // run of the set.
  absl::StatusOr<int64_t> RunTraced(int set);
  const op_profile::TraceBuffer& trace(int set) const {
    return *runs_[set]->execution.trace;
  }
  op_profile::SlotIdentity Describe(uint32_t slot) const {
    return profile_.Describe(slot);
  }

  // How runs are accounted from now on; sampled, as a daemon's, at first.
  absl::Status ConfigureProfile(op_profile::Mode mode) {
    return profile_.Configure({.mode = mode});
  }

  // What the graph was compiled to for the shapes of one data set.
  absl::StatusOr<Explanation> Explain(int set);

  // Nodes of the file, with those of bodies; and those that are no Constants.
  int node_count() const { return node_count_; }
  int computing_node_count() const { return computing_node_count_; }

 private:
  struct PreparedRun {
    const DataSet* source = nullptr;
    std::binary_semaphore done{0};
    Execution execution;
  };

  ModelEngine(int threads, std::set<std::string> disabled_passes);

  absl::Status Submit(const std::string& path);
  // What a staged run took from the execution's inputs is put back.
  absl::Status FillInputs(PreparedRun& run);
  void CountNodes(const GraphDef& graph);

  const CompileOptions options_;
  HostWorkerPool workers_;
  op_profile::OpProfile profile_;
  const std::unique_ptr<Backend> backend_;
  std::vector<DataSet> data_sets_;
  std::unique_ptr<Engine> engine_;
  std::shared_ptr<const LoadedGraph> graph_;
  // Behind the engine, whose pool the buffers go back to.
  std::vector<std::unique_ptr<PreparedRun>> runs_;
  int node_count_ = 0;
  int computing_node_count_ = 0;
};

}  // namespace tensord::bench

#endif  // TENSORD_BENCH_MODELS_MODEL_ENGINE_H_
