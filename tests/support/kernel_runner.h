#ifndef TENSORD_TESTS_SUPPORT_KERNEL_RUNNER_H_
#define TENSORD_TESTS_SUPPORT_KERNEL_RUNNER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "backends/api/backend.h"
#include "tests/support/tensor.h"

namespace tensord {

// One node of a test, as the engine would have made it.
struct TestNode {
  struct Output {
    DType dtype;
    Shape shape;  // the upper bounds where the data decides
  };

  OpKind op;
  std::vector<TestTensor> inputs = {};
  std::vector<Output> outputs = {};
  OpParams params = NoParams{};

  // Which inputs compile knows (weights, shapes); empty: none.
  std::vector<bool> is_constant = {};

  // Layouts of inputs that are views of their (dense) tensors, by index; an
  // input past the end is dense.
  std::vector<Layout> input_layouts = {};

  int extent_cell_count = 0;
  Precision precision = Precision::kStrict;
};

struct KernelResult {
  // For data-dependent outputs the shape is the bound, and what is past the
  // real extents is 0xDD.
  std::vector<TestTensor> outputs;
  std::vector<int64_t> extents;
};

// Runs one kernel on one node as the engine does: accepts (whose refusal is
// returned), prepare, workspace, run, wait, download. Outputs are filled with
// 0xDD before and have a guard behind, which must still be there (kInternal
// else); so has the workspace.
//
// Threading: on the calling thread, which holds the lane.
absl::StatusOr<KernelResult> RunKernel(const KernelEntry& kernel,
                                       const TestNode& node, Device& device,
                                       Lane& lane, WorkerPool& workers);

// The backend's kernels whose op and dtypes match and that accept the node, in
// their order.
std::vector<const KernelEntry*> KernelsFor(const Backend& backend,
                                           const TestNode& node);

}  // namespace tensord

#endif  // TENSORD_TESTS_SUPPORT_KERNEL_RUNNER_H_
