// Products and convolutions: sums over dimensions that are a row's own.

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "engine/batch/row_rules.h"
#include "engine/graph/status_macros.h"

namespace tensord {
namespace {

// a @ b of inputs `a` and `b`, either of which may be the stacked one.
absl::Status ProductRows(const NodeRows& rows, int a, int b) {
  if (rows.is_stacked(a)) {
    // A matrix's rows are the product's; of more, the first is one of many.
    TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(a, 2));
    TENSORD_RETURN_IF_ERROR(
        rows.ExpectStacked(a, std::max(2, rows.output_rank())));
  } else {
    TENSORD_RETURN_IF_ERROR(rows.ExpectRepeats(a));
  }
  if (!rows.is_stacked(b)) {
    TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(b));
    return rows.rank(b) < 3 ? absl::OkStatus() : rows.ExpectRepeats(b);
  }
  // Of a matrix, dimension 0 is what is summed over.
  TENSORD_RETURN_IF_ERROR(
      rows.ExpectStacked(b, std::max(3, rows.output_rank())));
  return rows.is_stacked(a) ? rows.ExpectSameRows(a, b) : absl::OkStatus();
}

absl::Status MatMulRows(const NodeRows& rows) {
  return ProductRows(rows, 0, 1);
}

// One number for all rows.
absl::Status ExpectOneNumber(const NodeRows& rows, int i) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(i));
  if (!rows.has_input(i) || rows.element_count(i) == 1) return absl::OkStatus();
  return NotProven(absl::StrCat("input ", i, " has ", rows.element_count(i),
                                " elements, not one for all rows"));
}

absl::Status MatMulIntegerRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(ExpectOneNumber(rows, 2));
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(3));
  return ProductRows(rows, 0, 1);
}

absl::Status QLinearMatMulRows(const NodeRows& rows) {
  for (int i : {1, 2}) TENSORD_RETURN_IF_ERROR(ExpectOneNumber(rows, i));
  for (int i : {4, 5}) TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(i));
  for (int i : {6, 7}) TENSORD_RETURN_IF_ERROR(ExpectOneNumber(rows, i));
  return ProductRows(rows, 0, 3);
}

absl::Status GemmRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0, 2));
  if (rows.params<GemmParams>().transpose_a) {
    return NotProven("transA sums over dimension 0, which is the batch");
  }
  TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(1));
  if (!rows.is_stacked(2)) return rows.ExpectRepeats(2);
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(2, 2));
  return rows.ExpectSameRows(0, 2);
}

// Images one by one; the rest is the same for all.
absl::Status ConvRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0, 3));
  return rows.ExpectFixedFrom(1);
}

// x, weights, offsets, bias, mask.
absl::Status DeformConvRows(const NodeRows& rows) {
  TENSORD_RETURN_IF_ERROR(rows.ExpectStacked(0, 3));
  TENSORD_RETURN_IF_ERROR(rows.ExpectSameRows(0, 2));
  for (int i : {1, 3}) TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(i));
  return rows.has_input(4) ? rows.ExpectSameRows(0, 4) : absl::OkStatus();
}

// The batch's letter comes first in the output and in each stacked operand, and
// nowhere else: then nothing is summed over it, and rows meet their own.
absl::Status EinsumRows(const NodeRows& rows) {
  const auto& params = rows.params<EinsumParams>();
  if (params.output_term.empty() || params.output_term[0] == '.') {
    return NotProven("the output's first dimension is no letter of its own");
  }
  const char batch = params.output_term[0];
  for (int i = 0; i < rows.input_count(); ++i) {
    const std::string& term = params.input_terms[i];
    const auto count = std::count(term.begin(), term.end(), batch);
    if (rows.is_stacked(i)) {
      TENSORD_RETURN_IF_ERROR(rows.ExpectOutputRows(i));
      if (term[0] == batch && count == 1) continue;
    } else {
      TENSORD_RETURN_IF_ERROR(rows.ExpectFixed(i));
      if (count == 0) continue;
    }
    return NotProven(absl::StrCat("the letter '", std::string(1, batch),
                                  "' is not the batch alone in the term of "
                                  "input ",
                                  i));
  }
  if (std::count(params.output_term.begin(), params.output_term.end(), batch) ==
      1) {
    return absl::OkStatus();
  }
  return NotProven("the output has the batch's letter twice");
}

constexpr RowRuleEntry kRules[] = {
    {OpKind::kMatMul, &MatMulRows},
    {OpKind::kMatMulInteger, &MatMulIntegerRows},
    {OpKind::kQLinearMatMul, &QLinearMatMulRows},
    {OpKind::kGemm, &GemmRows},
    {OpKind::kConv, &ConvRows},
    {OpKind::kConvInteger, &ConvRows},
    {OpKind::kConvTranspose, &ConvRows},
    {OpKind::kQLinearConv, &ConvRows},
    {OpKind::kDeformConv, &DeformConvRows},
    {OpKind::kEinsum, &EinsumRows},
};

}  // namespace

absl::Span<const RowRuleEntry> ProductRowRules() { return kRules; }

}  // namespace tensord
