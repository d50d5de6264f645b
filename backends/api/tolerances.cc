#include "backends/api/tolerances.h"

#include <algorithm>
#include <cmath>

namespace tensord {
namespace {

struct Row {
  DType dtype;
  OpFamily family;
  double relative;
  double absolute;  // for a depth of 1, with inputs of magnitude about 1
};

// In units of the dtype's epsilon (float32 1.2e-7, float16 9.8e-4, bfloat16
// 7.8e-3, float64 2.2e-16): arithmetic 4, transcendental 32 (vectorised
// polynomials; 2 for the 16-bit types, which compute in float32), sums 16 (8
// for 16 bits). Tighten a row when every kernel passes; a kernel that needs
// more says why in the commit that widens it.
constexpr Row kRows[] = {
    {DType::kFloat32, OpFamily::kArithmetic, 5e-7, 1e-7},
    {DType::kFloat32, OpFamily::kTranscendental, 4e-6, 1e-6},
    {DType::kFloat32, OpFamily::kReduction, 4e-6, 1e-6},
    {DType::kFloat32, OpFamily::kContraction, 4e-6, 2e-6},
    // Two factors, each off by half an epsilon of bfloat16 at most: a term by
    // one, whose spread over many is a fourth of that.
    {DType::kFloat32, OpFamily::kRoundedContraction, 8e-3, 1.6e-2},
    {DType::kFloat64, OpFamily::kArithmetic, 1e-15, 1e-15},
    {DType::kFloat64, OpFamily::kTranscendental, 1e-14, 1e-14},
    {DType::kFloat64, OpFamily::kReduction, 1e-14, 1e-14},
    {DType::kFloat64, OpFamily::kContraction, 1e-14, 1e-14},
    {DType::kFloat16, OpFamily::kArithmetic, 2e-3, 1e-6},
    {DType::kFloat16, OpFamily::kTranscendental, 2e-3, 1e-4},
    {DType::kFloat16, OpFamily::kReduction, 8e-3, 1e-3},
    {DType::kFloat16, OpFamily::kContraction, 8e-3, 1e-3},
    {DType::kBFloat16, OpFamily::kArithmetic, 1.6e-2, 1e-6},
    {DType::kBFloat16, OpFamily::kTranscendental, 1.6e-2, 1e-3},
    {DType::kBFloat16, OpFamily::kReduction, 6.4e-2, 8e-3},
    {DType::kBFloat16, OpFamily::kContraction, 6.4e-2, 8e-3},
    // Rounding half to even or away from zero differs by one step.
    {DType::kInt8, OpFamily::kQuantized, 0, 1},
    {DType::kUInt8, OpFamily::kQuantized, 0, 1},
};

}  // namespace

Tolerance ToleranceFor(DType dtype, OpFamily family, int64_t depth) {
  for (const Row& row : kRows) {
    if (row.dtype != dtype || row.family != family) continue;
    const bool sums = family == OpFamily::kReduction ||
                      family == OpFamily::kContraction ||
                      family == OpFamily::kRoundedContraction;
    const double growth =
        sums ? std::sqrt(static_cast<double>(std::max<int64_t>(depth, 1))) : 1;
    return {row.relative, row.absolute * growth};
  }
  return {};
}

}  // namespace tensord
