#ifndef TENSORD_BACKENDS_CPU_KERNELS_EINSUM_STEPS_H_
#define TENSORD_BACKENDS_CPU_KERNELS_EINSUM_STEPS_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "backends/api/einsum_plan.h"
#include "backends/api/kernel.h"
#include "backends/cpu/kernels/einsum_gather.h"

// An Einsum's plan for one set of shapes, made ahead of its runs: which
// operands are copied and how, and where the copies go.
//
// Threading: immutable once made. Ownership: a KernelState owns its parts.
namespace tensord::einsum {

// One side of a product: how it is made from its operand, and where its rows
// and columns are.
struct Side {
  EinsumGather gather;
  bool is_in_place;
  int64_t row_stride;
  int64_t column_stride;
};

struct Product {
  int64_t batch, rows, columns, depth;
  Side left;
  Side right;
  bool is_output;  // y's elements in y's order

  int64_t count() const { return batch * rows * columns; }
};

// In elements of the compute type: both sides, and two results in turn, of
// which the next product reads one while it writes the other.
struct WorkspaceParts {
  int64_t left = 0;
  int64_t right = 0;
  int64_t result = 0;

  int64_t element_count() const { return left + right + 2 * result; }
};

struct Steps final : KernelState {
  uint64_t footprint_bytes() const override {
    return products.capacity() * sizeof(Product);
  }

  std::vector<Product> products;
  // From the last result, or the one operand, to y; absent where that is y.
  std::optional<EinsumGather> last;
  WorkspaceParts workspace;
};

inline EinsumLabels Join(const EinsumLabels& a, const EinsumLabels& b,
                         const EinsumLabels& c) {
  EinsumLabels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// What is multiplied: its labels, its extents, and whether it could be used
// where it is.
struct Operand {
  EinsumLabels labels;
  Dims extents;
  bool is_usable;
};

inline Operand InputOperand(const NodeSite& site, const EinsumPlan& plan,
                            size_t i, bool is_usable) {
  const absl::Span<const int64_t> extents =
      site.input(static_cast<int>(i)).shape.extents();
  return {plan.inputs[i], Dims(extents.begin(), extents.end()), is_usable};
}

// As [batch, rows, columns].
inline Side MakeSide(const EinsumPlan& plan, const Operand& operand,
                     const EinsumLabels& batch, const EinsumLabels& rows,
                     const EinsumLabels& columns) {
  const EinsumGather straight(plan, operand.labels, operand.extents,
                              Join(batch, rows, columns));
  const int64_t row_count = plan.CountOf(rows);
  const int64_t column_count = plan.CountOf(columns);
  if (!straight.is_identity() && operand.is_usable) {
    const EinsumGather transposed(plan, operand.labels, operand.extents,
                                  Join(batch, columns, rows));
    if (transposed.is_identity()) return {transposed, true, 1, row_count};
  }
  return {straight, straight.is_identity() && operand.is_usable, column_count,
          1};
}

// To whole cache lines of the narrowest type that is computed in.
inline int64_t RoundUp(int64_t elements) { return (elements + 15) / 16 * 16; }

// An ellipsis may broadcast, and what is in place for some extents is then not
// for smaller ones: the workspace has room for all, so that it only grows.
inline void Reserve(const EinsumPlan& plan, const Product& product,
                    WorkspaceParts& parts) {
  if (!product.left.is_in_place || plan.has_ellipsis) {
    parts.left = std::max(parts.left, RoundUp(product.left.gather.count()));
  }
  if (!product.right.is_in_place || plan.has_ellipsis) {
    parts.right = std::max(parts.right, RoundUp(product.right.gather.count()));
  }
  if (!product.is_output || plan.has_ellipsis) {
    parts.result = std::max(parts.result, RoundUp(product.count()));
  }
}

// `inputs_are_usable`: elements are multiplied as what they are. Null without a
// plan; shapes were checked when they were inferred, so there is one.
inline std::unique_ptr<Steps> MakeSteps(const NodeSite& site,
                                        bool inputs_are_usable) {
  std::vector<Shape> shapes;
  for (int i = 0; i < site.input_count; ++i) {
    shapes.push_back(site.input(i).shape);
  }
  const absl::StatusOr<EinsumPlan> checked =
      PlanEinsum(std::get<EinsumParams>(site.params), shapes);
  if (!checked.ok()) return nullptr;
  const EinsumPlan& plan = *checked;
  auto steps = std::make_unique<Steps>();
  Operand operand = InputOperand(site, plan, 0, inputs_are_usable);
  for (size_t i = 0; i < plan.products.size(); ++i) {
    const EinsumProduct& labels = plan.products[i];
    const bool is_last = i + 1 == plan.products.size();
    Product product{
        .batch = plan.CountOf(labels.batch),
        .rows = plan.CountOf(labels.left),
        .columns = plan.CountOf(labels.right),
        .depth = plan.CountOf(labels.summed),
        .left =
            MakeSide(plan, operand, labels.batch, labels.left, labels.summed),
        .right =
            MakeSide(plan, InputOperand(site, plan, i + 1, inputs_are_usable),
                     labels.batch, labels.summed, labels.right),
        .is_output = false};
    operand = {Join(labels.batch, labels.left, labels.right), {}, true};
    for (EinsumLabel label : operand.labels) {
      operand.extents.push_back(plan.extents[label]);
    }
    if (is_last && inputs_are_usable) {
      product.is_output =
          EinsumGather(plan, operand.labels, operand.extents, plan.output)
              .is_identity();
    }
    Reserve(plan, product, steps->workspace);
    steps->products.push_back(product);
  }
  if (steps->products.empty() || !steps->products.back().is_output) {
    steps->last.emplace(plan, operand.labels, operand.extents, plan.output);
  }
  return steps;
}

}  // namespace tensord::einsum

#endif  // TENSORD_BACKENDS_CPU_KERNELS_EINSUM_STEPS_H_
