#include "engine/ops/broadcast.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

// Two symbols that are not known to be equal: one of them may be 1, so the
// result is neither. What is bounded stays so.
Dim BroadcastSymbols(InferContext& context, Dim a, Dim b) {
  SymbolTable& symbols = context.symbols();
  const auto bound = [&symbols](Dim dim) {
    return symbols.upper_bound(dim.symbol());
  };
  if (!symbols.is_data_dependent(a.symbol()) &&
      !symbols.is_data_dependent(b.symbol())) {
    return context.UnknownDim();
  }
  if (bound(a) == SymbolTable::kUnbounded ||
      bound(b) == SymbolTable::kUnbounded) {
    return context.DataDependentDim(SymbolTable::kUnbounded);
  }
  return context.DataDependentDim(std::max(bound(a), bound(b)));
}

}  // namespace

absl::StatusOr<SymbolicShape> BroadcastShapes(InferContext& context,
                                              const SymbolicShape& a,
                                              const SymbolicShape& b) {
  const size_t rank = std::max(a.size(), b.size());
  SymbolicShape result(rank);
  const Dim one = Dim::Known(1);
  for (size_t from_end = 1; from_end <= rank; ++from_end) {
    const Dim x = from_end <= a.size() ? a[a.size() - from_end] : one;
    const Dim y = from_end <= b.size() ? b[b.size() - from_end] : one;
    Dim& z = result[rank - from_end];
    if (x == y || y == one) {
      z = x;
    } else if (x == one) {
      z = y;
    } else if (!x.is_known() && !y.is_known()) {
      z = BroadcastSymbols(context, x, y);
    } else if (x.is_known() && y.is_known()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "cannot broadcast ", context.symbols().ToString(a), " with ",
          context.symbols().ToString(b), ": extents ", x.extent(), " vs ",
          y.extent(), " in dimension -", from_end));
    } else {
      // A number other than 1 beside a symbol: the symbol is that or 1.
      z = x.is_known() ? x : y;
    }
  }
  return result;
}

absl::Status CheckBroadcastsTo(InferContext& context, int i,
                               const SymbolicShape& target) {
  const SymbolicShape& from = context.shape(i);
  bool fits = from.size() <= target.size();
  for (size_t from_end = 1; fits && from_end <= from.size(); ++from_end) {
    const Dim own = from[from.size() - from_end];
    const Dim wanted = target[target.size() - from_end];
    fits = own == Dim::Known(1) || !own.is_known() || !wanted.is_known() ||
           own == wanted;
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "input ", i, " has shape ", context.symbols().ToString(from),
      ", which does not broadcast to ", context.symbols().ToString(target)));
}

}  // namespace tensord
