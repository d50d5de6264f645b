// Cast: each element converted to another dtype.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_list.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (!node.Has("to")) {
    return absl::InvalidArgumentError("attribute 'to' is missing");
  }
  TENSORD_ASSIGN_OR_RETURN(const int64_t to, node.Int("to", 0));
  const std::optional<DType> dtype = DTypeFromNumber(to);
  if (!dtype.has_value()) {
    return absl::InvalidArgumentError(
        absl::StrCat("attribute 'to' is ", to, ", which is no dtype"));
  }
  if (*dtype == DType::kString) {
    return absl::UnimplementedError("attribute 'to' is 8 (string)");
  }
  // How to round to 8-bit floats, which no kernel takes.
  if (node.opset() >= 19) node.Ignore("saturate");
  if (node.opset() >= 24) node.Ignore("round_mode");
  return CastParams{*dtype};
}

absl::Status Infer(InferContext& context) {
  context.SetOutput(0, context.params<CastParams>().to, context.shape(0));
  return absl::OkStatus();
}

}  // namespace

OpDef CastDef() {
  return {.op = OpKind::kCast,
          .min_inputs = 1,
          .max_inputs = 1,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
