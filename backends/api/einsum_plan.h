#ifndef TENSORD_BACKENDS_API_EINSUM_PLAN_H_
#define TENSORD_BACKENDS_API_EINSUM_PLAN_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/op_params.h"
#include "backends/api/shape.h"

// How Einsum's equation is computed: the operands are multiplied into one
// another from left to right, and a dimension that neither the output nor a
// later operand has is summed as soon as it can be. The order is the client's,
// whatever the extents: what a plan takes then only grows with them.
//
// Threading and ownership: plain values and pure functions.
namespace tensord {

// What a dimension is called: a letter's number, or kEllipsisLabel + i for the
// i-th of the dimensions that an ellipsis stands for.
using EinsumLabel = uint8_t;
inline constexpr EinsumLabel kEllipsisLabel = 52;
inline constexpr int kEinsumLabelCount = kEllipsisLabel + kMaxRank;
using EinsumLabels = absl::InlinedVector<EinsumLabel, 8>;

// The label of a letter, A to Z before a to z.
inline EinsumLabel EinsumLabelOf(char letter) {
  return static_cast<EinsumLabel>(letter <= 'Z' ? letter - 'A'
                                                : letter - 'a' + 26);
}
inline char EinsumLetterOf(EinsumLabel label) {
  return static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26);
}

inline bool HasLabel(const EinsumLabels& labels, EinsumLabel label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// The labels of a term (EinsumParams) whose ellipsis, if it has one, stands for
// `ellipsis_rank` dimensions, at most kMaxRank.
inline EinsumLabels ExpandEinsumTerm(absl::string_view term,
                                     int ellipsis_rank) {
  EinsumLabels labels;
  for (char c : term) {
    if (c != '.') {
      labels.push_back(EinsumLabelOf(c));
      continue;
    }
    for (int i = 0; i < ellipsis_rank; ++i) {
      labels.push_back(static_cast<EinsumLabel>(kEllipsisLabel + i));
    }
  }
  return labels;
}

// What so far was computed times one more operand: a batch of matrix products
//   [batch, left, summed] * [batch, summed, right] -> [batch, left, right]
// Dimensions that are in none of the four are summed in the operand that has
// them, ahead of the product.
struct EinsumProduct {
  EinsumLabels batch;
  EinsumLabels left;
  EinsumLabels right;
  EinsumLabels summed;
};

struct EinsumPlan {
  std::vector<EinsumLabels> inputs;
  EinsumLabels output;
  std::array<int64_t, kEinsumLabelCount> extents;  // of the labels in use
  bool has_ellipsis = false;
  std::vector<EinsumProduct> products;  // the i-th has operand i + 1

  int64_t CountOf(const EinsumLabels& labels) const {
    int64_t count = 1;
    for (EinsumLabel label : labels) count *= extents[label];
    return count;
  }
};

namespace einsum_internal {

inline void Append(EinsumLabels& labels, EinsumLabel label) {
  if (!HasLabel(labels, label)) labels.push_back(label);
}

// Operands and results in between have as many dimensions and elements as any
// tensor at most. kInvalidArgument for more.
inline absl::Status CheckSize(
    const EinsumPlan& plan, std::initializer_list<const EinsumLabels*> parts) {
  Dims extents;
  for (const EinsumLabels* labels : parts) {
    for (EinsumLabel label : *labels) extents.push_back(plan.extents[label]);
  }
  const absl::StatusOr<Shape> shape = Shape::Create(extents);
  if (shape.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a product on the way: ", shape.status().message()));
}

// By label: the last input that has it; past all of them for the output's.
using LastUses = std::array<size_t, kEinsumLabelCount>;

// Multiplies by operand i. `result` has the labels of what was computed so far,
// and then of the product.
inline EinsumProduct Multiply(EinsumLabels& result, const EinsumLabels& operand,
                              size_t i, const LastUses& last_uses) {
  EinsumProduct product;
  for (EinsumLabel label : result) {
    const bool is_shared = HasLabel(operand, label);
    if (last_uses[label] > i) {
      Append(is_shared ? product.batch : product.left, label);
    } else if (is_shared) {
      Append(product.summed, label);
    }
  }
  for (EinsumLabel label : operand) {
    if (last_uses[label] > i && !HasLabel(result, label)) {
      Append(product.right, label);
    }
  }
  result = product.batch;
  result.insert(result.end(), product.left.begin(), product.left.end());
  result.insert(result.end(), product.right.begin(), product.right.end());
  return product;
}

}  // namespace einsum_internal

// `shapes` fit `params`: ranks and extents were checked, and dimensions of an
// ellipsis broadcast. kInvalidArgument where something in between would be
// larger than a tensor may be.
inline absl::StatusOr<EinsumPlan> PlanEinsum(const EinsumParams& params,
                                             absl::Span<const Shape> shapes) {
  EinsumPlan plan;
  plan.extents.fill(1);
  int ellipsis_rank = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const std::string& term = params.input_terms[i];
    const bool has_ellipsis = term.find('.') != std::string::npos;
    if (has_ellipsis) {
      plan.has_ellipsis = true;
      ellipsis_rank = shapes[i].rank() - static_cast<int>(term.size()) + 1;
    }
    plan.inputs.push_back(ExpandEinsumTerm(term, ellipsis_rank));
    for (int d = 0; d < shapes[i].rank(); ++d) {
      int64_t& extent = plan.extents[plan.inputs[i][d]];
      if (shapes[i][d] != 1) extent = shapes[i][d];
    }
  }
  plan.output = ExpandEinsumTerm(params.output_term, ellipsis_rank);

  einsum_internal::LastUses last_uses{};
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (EinsumLabel label : plan.inputs[i]) last_uses[label] = i;
  }
  for (EinsumLabel label : plan.output) last_uses[label] = shapes.size();

  EinsumLabels result = plan.inputs[0];
  for (size_t i = 1; i < shapes.size(); ++i) {
    const EinsumProduct product =
        einsum_internal::Multiply(result, plan.inputs[i], i, last_uses);
    for (const auto& [a, b] : {std::pair(&product.left, &product.summed),
                               std::pair(&product.right, &product.summed),
                               std::pair(&product.left, &product.right)}) {
      if (absl::Status status =
              einsum_internal::CheckSize(plan, {&product.batch, a, b});
          !status.ok()) {
        return status;
      }
    }
    plan.products.push_back(product);
  }
  return plan;
}

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_EINSUM_PLAN_H_
