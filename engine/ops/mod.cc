// Mod: what a division of two inputs that broadcast leaves over, with the
// divisor's sign, or the dividend's as C's fmod() has it.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  ModParams params;
  TENSORD_ASSIGN_OR_RETURN(params.is_fmod, node.Bool("fmod", false));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kNumericDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  if (!context.params<ModParams>().is_fmod &&
      !context.CheckDType(0, kIntegerDTypes).ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'fmod' is 0, which is for integers; input 0 "
                     "has dtype ",
                     DTypeName(context.dtype(0))));
  }
  TENSORD_ASSIGN_OR_RETURN(
      SymbolicShape y,
      BroadcastShapes(context, context.shape(0), context.shape(1)));
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ModDef() {
  return {.op = OpKind::kMod,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
