#ifndef TENSORD_TESTS_ENGINE_HOSTILE_HOSTILE_HARNESS_H_
#define TENSORD_TESTS_ENGINE_HOSTILE_HOSTILE_HARNESS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/graph/graph_def.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/engine/engine_harness.h"
#include "tests/support/tensor.h"

namespace tensord {

// One node whose attributes or operands no run can serve.
struct HostileNode {
  std::string name;  // of the test
  std::string op;
  std::vector<TestTensor> operands;  // an absent one is left out
  std::vector<std::pair<std::string, Attribute>> attributes = {};
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
  std::string text;  // in the message
  int output_count = 1;
  int64_t opset = 17;
};
void PrintTo(const HostileNode& node, std::ostream* out);

// A whole engine on the CPU, with a quarter of a gigabyte for a run.
//
// Every submission and every run must end within two seconds of processor time
// and a gigabyte, whatever comes of it.
class HostileTest : public testing::Test {
 protected:
  HostileTest();

  // What submitting the graph and running it comes to.
  absl::Status Serve(GraphDef definition, std::vector<TestTensor> inputs = {},
                     absl::Duration timeout = absl::Seconds(60));

  // The node with operands that are known before the run, and with ones that
  // are not.
  absl::Status ServeConstants(const HostileNode& node);
  absl::Status ServeInputs(const HostileNode& node);

 private:
  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend(HostServices{.workers = &workers_});
  EngineHarness harness_;
  int submission_count_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_HOSTILE_HOSTILE_HARNESS_H_
