#ifndef TENSORD_TESTS_BACKENDS_CUDA_NAMED_NODE_H_
#define TENSORD_TESTS_BACKENDS_CUDA_NAMED_NODE_H_

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/kernel_runner.h"
#include "tests/support/tolerances.h"

namespace tensord::cuda {

// A node that every CUDA kernel which accepts it must compute as the CPU's
// first kernel does; at least one must accept it.
struct NamedNode {
  std::string name;  // letters, digits and underscores: part of a test's name
  TestNode node;
  Tolerance tolerance = {};

  // What the CPU runs instead, where it has no kernel for the node's form: the
  // same in float32, whose result is rounded to the node's dtype.
  std::optional<TestNode> cpu_node = std::nullopt;

  friend void PrintTo(const NamedNode& node, std::ostream* out) {
    *out << node.name;
  }
};

// By family of kernels; kernels_test.cc runs them.
std::vector<NamedNode> CastNodes();
std::vector<NamedNode> ChainNodes();
std::vector<NamedNode> ElementwiseNodes();
std::vector<NamedNode> NormalizationNodes();
std::vector<NamedNode> ReduceNodes();
std::vector<NamedNode> IdentityNodes();
std::vector<NamedNode> LibraryNodes();
std::vector<NamedNode> MovementNodes();
std::vector<NamedNode> PoolNodes();
std::vector<NamedNode> IndexingNodes();
std::vector<NamedNode> ProductNodes();
std::vector<NamedNode> FewRowsNodes();
std::vector<NamedNode> ConvNodes();
std::vector<NamedNode> ByteNodes();
std::vector<NamedNode> AttentionNodes();
std::vector<NamedNode> ResizeNodes();
std::vector<NamedNode> SamplingNodes();
std::vector<NamedNode> RecurrentNodes();
std::vector<NamedNode> ContractionNodes();

}  // namespace tensord::cuda

#endif  // TENSORD_TESTS_BACKENDS_CUDA_NAMED_NODE_H_
