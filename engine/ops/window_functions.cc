// HannWindow, HammingWindow, BlackmanWindow: as many weights as input 0 says.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"
#include "engine/ops/signal_rules.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  WindowParams params;
  TENSORD_ASSIGN_OR_RETURN(params.dtype, ReadOutputDType(node));
  TENSORD_ASSIGN_OR_RETURN(params.is_periodic, node.Bool("periodic", true));
  return params;
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kIndexDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckOneElement(0));
  if (context.constant(0) == nullptr) return context.NeedsValue(0);
  const int64_t size = ConstantIntegers(context, 0)[0];
  if (size < 0 || size > kMaxElementCount) {
    return absl::InvalidArgumentError(absl::StrCat("the window's size is ",
                                                   size, ", outside [0, ",
                                                   kMaxElementCount, "]"));
  }
  context.SetOutput(0, context.params<WindowParams>().dtype,
                    {Dim::Known(size)});
  return absl::OkStatus();
}

OpDef Window(OpKind op) {
  return {.op = op,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace

OpDef BlackmanWindowDef() { return Window(OpKind::kBlackmanWindow); }
OpDef HammingWindowDef() { return Window(OpKind::kHammingWindow); }
OpDef HannWindowDef() { return Window(OpKind::kHannWindow); }

}  // namespace tensord
