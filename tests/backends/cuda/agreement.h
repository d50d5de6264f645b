#ifndef TENSORD_TESTS_BACKENDS_CUDA_AGREEMENT_H_
#define TENSORD_TESTS_BACKENDS_CUDA_AGREEMENT_H_

#include <memory>
#include <utility>
#include <vector>

#include "backends/api/backend.h"
#include "tests/backends/cuda/named_node.h"
#include "tests/support/backend_test.h"

// Kernels of a GPU's backend against the CPU's, on the nodes of named_node.h.
// Knows no GPU: the Vulkan backend's tests have the same nodes.
namespace tensord::cuda {

// An open device, for all tests of the program.
class OpenDevice {
 public:
  OpenDevice(std::unique_ptr<Backend> backend, int ordinal)
      : backend_(std::move(backend)),
        device_(backend_->OpenDevice(ordinal).value()),
        lane_(device_->CreateLane().value()) {}

  std::vector<const KernelEntry*> KernelsFor(const TestNode& node) const {
    return tensord::KernelsFor(*backend_, node);
  }
  absl::StatusOr<KernelResult> Run(const KernelEntry& kernel,
                                   const TestNode& node) {
    return RunKernel(kernel, node, *device_, *lane_,
                     *TestHostServices().workers);
  }

 private:
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Lane> lane_;
};

// The CPU's, for all tests of the program.
OpenDevice& Cpu();

// Every kernel of `gpu` that accepts the node gives what the CPU's first kernel
// gives. Inputs that are views are copied for kernels that walk no strides. How
// many kernels accepted it is returned.
int ExpectAgreement(const NamedNode& named, OpenDevice& gpu);

}  // namespace tensord::cuda

#endif  // TENSORD_TESTS_BACKENDS_CUDA_AGREEMENT_H_
