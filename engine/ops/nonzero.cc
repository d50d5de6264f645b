// NonZero: the indices of the elements that are not zero, one column each, in
// row-major order: int64 [rank, count]. A scalar gives [0, count].

#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  // At most every element; no bound when an extent is a symbol without one.
  int64_t bound = 1;
  for (Dim dim : context.shape(0)) {
    const int64_t extent = dim.is_known()
                               ? dim.extent()
                               : context.symbols().upper_bound(dim.symbol());
    if (extent == SymbolTable::kUnbounded ||
        (extent > 0 && bound > kMaxElementCount / extent)) {
      bound = SymbolTable::kUnbounded;
      break;
    }
    bound *= extent;
  }
  context.SetOutput(
      0, DType::kInt64,
      {Dim::Known(context.rank(0)), context.DataDependentDim(bound)});
  return absl::OkStatus();
}

}  // namespace

OpDef NonZeroDef() {
  return {.op = OpKind::kNonZero,
          .min_inputs = 1,
          .max_inputs = 1,
          .infer = &Infer,
          .has_data_dependent_extents = true};
}

}  // namespace tensord
