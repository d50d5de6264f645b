// Every kernel of the backend against the CPU's, on the nodes that CUDA's
// kernels are tested on (tests/backends/cuda/named_node.h): a part of them, or
// with TENSORD_ALL_NODES all. What no kernel accepts is left to the host; how
// much is not may only grow.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "backends/vulkan/vulkan_backend.h"
#include "tests/backends/cuda/agreement.h"
#include "tests/support/vulkan_devices.h"

namespace tensord::cuda {
namespace {

// Never destroyed, so that pipelines are made once.
OpenDevice& Gpu() {
  static auto* const gpu = [] {
    const DeviceParam param = VulkanParams().at(0);
    return new OpenDevice(param.make_backend(TestHostServices(), 0),
                          param.ordinal);
  }();
  return *gpu;
}

// For its table alone, without a device.
const Backend& Kernels() {
  static const Backend* const backend =
      vulkan::MakeVulkanBackend(HostServices{}).release();
  return *backend;
}

struct Family {
  const char* name;
  std::vector<NamedNode> (*nodes)();
  int least_accepted;
};

constexpr Family kFamilies[] = {
    {"Cast", &CastNodes, 335},
    {"Chain", &ChainNodes, 52},
    {"Elementwise", &ElementwiseNodes, 679},
    {"Normalization", &NormalizationNodes, 127},
    {"Reduce", &ReduceNodes, 374},
    {"Identity", &IdentityNodes, 35},
    {"Library", &LibraryNodes, 186},
    {"Movement", &MovementNodes, 106},
    {"Pool", &PoolNodes, 365},
    {"Indexing", &IndexingNodes, 40},
    {"Products", &ProductNodes, 47},
    {"FewRows", &FewRowsNodes, 50},
    {"Conv", &ConvNodes, 171},
    {"Attention", &AttentionNodes, 42},
    {"Resize", &ResizeNodes, 324},
};

class VulkanKernelTest : public ::testing::TestWithParam<NamedNode> {};

TEST_P(VulkanKernelTest, AgreesWithTheCpu) {
  EXPECT_GT(ExpectAgreement(GetParam(), Gpu()), 0);
}

TEST(VulkanKernels, AcceptAtLeastWhatTheyDid) {
  for (const Family& family : kFamilies) {
    int accepted = 0;
    int count = 0;
    for (const NamedNode& named : family.nodes()) {
      ++count;
      if (!KernelsFor(Kernels(), named.node).empty()) ++accepted;
    }
    EXPECT_GE(accepted, family.least_accepted)
        << family.name << ", of " << count;
  }
}

std::string NodeName(const ::testing::TestParamInfo<NamedNode>& info) {
  return info.param.name;
}

// A node in so many is in the part, which is no multiple of the number of
// dtypes: pipelines of a software driver are made by a compiler, and take most
// of the time.
constexpr size_t kPart = 7;

std::vector<NamedNode> Nodes() {
  const bool takes_all = std::getenv("TENSORD_ALL_NODES") != nullptr;
  std::vector<NamedNode> nodes;
  size_t accepted = 0;
  for (const Family& family : kFamilies) {
    for (NamedNode& named : family.nodes()) {
      if (KernelsFor(Kernels(), named.node).empty()) continue;
      if (++accepted % kPart != 0 && !takes_all) continue;
      named.name = std::string(family.name) + "_" + named.name;
      nodes.push_back(std::move(named));
    }
  }
  return nodes;
}

INSTANTIATE_TEST_SUITE_P(Nodes, VulkanKernelTest, ::testing::ValuesIn(Nodes()),
                         NodeName);

}  // namespace
}  // namespace tensord::cuda
