#ifndef TENSORD_TESTS_BACKENDS_CUDA_LIBRARIES_SITE_NODE_H_
#define TENSORD_TESTS_BACKENDS_CUDA_LIBRARIES_SITE_NODE_H_

#include <memory>
#include <utility>
#include <vector>

#include "backends/api/kernel.h"

namespace tensord::cuda {

// A node of which only its site is looked at: inputs, then one output, all of
// one dtype and contiguous.
// Ownership: owns what its site borrows.
struct SiteNode {
  std::vector<DType> dtypes;
  std::vector<Layout> layouts;
  OpParams params;

  NodeSite site(OpKind op) const {
    return {.op = op,
            .dtypes = dtypes,
            .input_count = static_cast<int>(dtypes.size()) - 1,
            .layouts = layouts,
            .host_constants = {},
            .params = params};
  }
};

inline SiteNode MakeSiteNode(DType dtype, std::vector<Shape> operands,
                             OpParams params = NoParams{}) {
  SiteNode node{.dtypes = {}, .layouts = {}, .params = std::move(params)};
  for (Shape& shape : operands) {
    node.dtypes.push_back(dtype);
    node.layouts.push_back(Layout::Contiguous(std::move(shape)));
  }
  return node;
}

// The parameters with an epilogue of these steps; its input 1 is the node's
// input `own_inputs`.
inline OpParams WithSteps(OpParams params, int own_inputs, int32_t input_count,
                          std::vector<ExpressionStep> steps) {
  auto epilogue = std::make_shared<Epilogue>();
  epilogue->own_input_count = own_inputs;
  epilogue->expression.input_count = input_count;
  epilogue->expression.steps = std::move(steps);
  params.epilogue = std::move(epilogue);
  return params;
}

}  // namespace tensord::cuda

#endif  // TENSORD_TESTS_BACKENDS_CUDA_LIBRARIES_SITE_NODE_H_
