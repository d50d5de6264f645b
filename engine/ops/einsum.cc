// Einsum: products of the operands' elements, summed over the dimensions whose
// labels the output does not have. Letters are one extent wherever they stand;
// the dimensions of an ellipsis broadcast.

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "backends/api/einsum_plan.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status BadEquation(absl::string_view equation, absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat("attribute 'equation' is ", Quoted(equation), ": ", what));
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A term as EinsumParams has it: one '.' for an ellipsis.
absl::StatusOr<std::string> ReadTerm(absl::string_view equation,
                                     absl::string_view text) {
  std::string term;
  while (!text.empty()) {
    if (absl::ConsumePrefix(&text, "...")) {
      if (term.find('.') != std::string::npos) {
        return BadEquation(equation, "a term has two ellipses");
      }
      term += '.';
    } else if (IsLetter(text[0])) {
      term += text[0];
      text.remove_prefix(1);
    } else {
      return BadEquation(
          equation, absl::StrCat(Quoted(text.substr(0, 1)), " is no letter"));
    }
    if (term.size() > kMaxRank + 1) {
      return BadEquation(
          equation, absl::StrCat("a term has more than ", kMaxRank, " labels"));
    }
  }
  return term;
}

// How often each label is in the inputs.
using LabelCounts = std::array<int, kEllipsisLabel>;

// The ellipsis, then the labels that are there once, A to z.
std::string ImplicitOutput(const EinsumParams& params,
                           const LabelCounts& counts) {
  std::string output;
  for (const std::string& term : params.input_terms) {
    if (term.find('.') != std::string::npos) output.assign(1, '.');
  }
  for (EinsumLabel label = 0; label < kEllipsisLabel; ++label) {
    if (counts[label] == 1) output += EinsumLetterOf(label);
  }
  return output;
}

absl::Status CheckOutput(absl::string_view equation, absl::string_view output,
                         const LabelCounts& counts) {
  for (size_t i = 0; i < output.size(); ++i) {
    if (output[i] == '.') continue;
    const std::string letter = Quoted(output.substr(i, 1));
    if (counts[EinsumLabelOf(output[i])] == 0) {
      return BadEquation(
          equation, absl::StrCat("no input has the output's label ", letter));
    }
    if (output.find(output[i], i + 1) != absl::string_view::npos) {
      return BadEquation(equation, absl::StrCat("the output has the label ",
                                                letter, " twice"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (!node.Has("equation")) {
    return absl::InvalidArgumentError("attribute 'equation' is missing");
  }
  TENSORD_ASSIGN_OR_RETURN(const std::string equation,
                           node.String("equation", ""));
  std::string dense = equation;
  dense.erase(std::remove(dense.begin(), dense.end(), ' '), dense.end());
  const std::vector<std::string> sides =
      absl::StrSplit(dense, absl::MaxSplits("->", 1));
  EinsumParams params;
  LabelCounts counts{};
  for (absl::string_view text : absl::StrSplit(sides[0], ',')) {
    TENSORD_ASSIGN_OR_RETURN(std::string term, ReadTerm(equation, text));
    for (char c : term) {
      if (c != '.') ++counts[EinsumLabelOf(c)];
    }
    params.input_terms.push_back(std::move(term));
  }
  const auto term_count = static_cast<int>(params.input_terms.size());
  if (term_count != node.input_count()) {
    return BadEquation(equation, absl::StrCat(term_count, " terms for ",
                                              node.input_count(), " inputs"));
  }
  if (sides.size() == 1) {
    params.output_term = ImplicitOutput(params, counts);
    return params;
  }
  TENSORD_ASSIGN_OR_RETURN(params.output_term, ReadTerm(equation, sides[1]));
  TENSORD_RETURN_IF_ERROR(CheckOutput(equation, params.output_term, counts));
  return params;
}

// How many dimensions an ellipsis stands for; every one for as many. 0 where
// there is none.
absl::StatusOr<int> EllipsisRank(const InferContext& context) {
  const auto& params = context.params<EinsumParams>();
  std::optional<int> rank;
  for (int i = 0; i < context.input_count(); ++i) {
    const std::string& term = params.input_terms[i];
    const bool has_ellipsis = term.find('.') != std::string::npos;
    const int letters = static_cast<int>(term.size()) - (has_ellipsis ? 1 : 0);
    const int left = context.rank(i) - letters;
    if (left < 0 || (left > 0 && !has_ellipsis)) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " has rank ", context.rank(i),
                       ", its term ", letters, " labels"));
    }
    if (!has_ellipsis) continue;
    if (rank.has_value() && *rank != left) {
      return absl::InvalidArgumentError(absl::StrCat(
          "ellipses stand for ", *rank, " and for ", left, " dimensions"));
    }
    rank = left;
  }
  if (rank.value_or(0) > 0 &&
      params.output_term.find('.') == std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the output has no ellipsis for the inputs' ", *rank, " dimensions"));
  }
  return rank.value_or(0);
}

// The extent of each label.
using LabelDims = std::array<std::optional<Dim>, kEinsumLabelCount>;

absl::Status AddLetter(const InferContext& context, EinsumLabel label, Dim dim,
                       LabelDims& dims) {
  std::optional<Dim>& known = dims[label];
  if (known.has_value()) {
    const char letter = EinsumLetterOf(label);
    TENSORD_RETURN_IF_ERROR(context.CheckSameDim(
        absl::StrCat("extents of the label '", std::string(1, letter), "':"),
        *known, dim));
  }
  if (!known.has_value() || dim.is_known()) known = dim;
  return absl::OkStatus();
}

absl::StatusOr<LabelDims> FindDims(InferContext& context, int ellipsis_rank) {
  const auto& params = context.params<EinsumParams>();
  LabelDims dims;
  SymbolicShape ellipsis(ellipsis_rank, Dim::Known(1));
  for (int i = 0; i < context.input_count(); ++i) {
    const EinsumLabels labels =
        ExpandEinsumTerm(params.input_terms[i], ellipsis_rank);
    SymbolicShape own;
    for (size_t d = 0; d < labels.size(); ++d) {
      const Dim dim = context.shape(i)[d];
      if (labels[d] >= kEllipsisLabel) {
        own.push_back(dim);
        continue;
      }
      TENSORD_RETURN_IF_ERROR(AddLetter(context, labels[d], dim, dims));
    }
    if (own.empty()) continue;
    TENSORD_ASSIGN_OR_RETURN(ellipsis, BroadcastShapes(context, ellipsis, own));
  }
  for (int i = 0; i < ellipsis_rank; ++i) {
    dims[kEllipsisLabel + i] = ellipsis[i];
  }
  return dims;
}

// Whether nothing on the way is too large, where all extents are known.
absl::Status CheckPlan(const InferContext& context) {
  std::vector<Shape> shapes;
  for (int i = 0; i < context.input_count(); ++i) {
    if (!IsKnown(context.shape(i))) return absl::OkStatus();
    TENSORD_ASSIGN_OR_RETURN(Shape shape, ToConcrete(context.shape(i)));
    shapes.push_back(std::move(shape));
  }
  return PlanEinsum(context.params<EinsumParams>(), shapes).status();
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNumericDTypes));
  for (int i = 1; i < context.input_count(); ++i) {
    if (!context.has_input(i)) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", i, " is absent"));
    }
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
  }
  TENSORD_ASSIGN_OR_RETURN(const int ellipsis_rank, EllipsisRank(context));
  TENSORD_ASSIGN_OR_RETURN(const LabelDims dims,
                           FindDims(context, ellipsis_rank));
  TENSORD_RETURN_IF_ERROR(CheckPlan(context));
  SymbolicShape y;
  for (EinsumLabel label : ExpandEinsumTerm(
           context.params<EinsumParams>().output_term, ellipsis_rank)) {
    y.push_back(*dims[label]);
  }
  if (y.size() > kMaxRank) {
    return absl::InvalidArgumentError(
        absl::StrCat("the output has rank ", y.size(), ", above ", kMaxRank));
  }
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef EinsumDef() {
  return {.op = OpKind::kEinsum,
          .min_inputs = 1,
          .max_inputs = OpDef::kVariadic,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
