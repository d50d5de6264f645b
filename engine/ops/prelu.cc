// PRelu: y = x where x >= 0, slope * x else. The slope (input 1) broadcasts to
// x's shape. Below operator set 7 it has one element, or one for each channel,
// which are x's dimension 1: AxisParams.

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/binary_rules.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_list.h"

namespace tensord {
namespace {

constexpr DType kDTypes[] = {DType::kFloat32,  DType::kFloat64, DType::kFloat16,
                             DType::kBFloat16, DType::kInt32,   DType::kInt64,
                             DType::kUInt32,   DType::kUInt64};

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (node.opset() <= 5) node.Ignore("consumed_inputs");
  if (node.opset() <= 6) return AxisParams{1};
  return NoParams{};
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, 1));
  const SymbolicShape& x = context.shape(0);
  const SymbolicShape& slope = context.shape(1);
  const bool is_per_channel = context.params_if<AxisParams>() != nullptr;
  if (is_per_channel) TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 0, 1));
  // One slope for all elements fits every x, even one without channels.
  const bool is_one =
      slope.empty() || (slope.size() == 1 && slope[0] == Dim::Known(1));
  if (!is_one) {
    TENSORD_ASSIGN_OR_RETURN(const SymbolicShape y, InferBinaryShape(context));
    bool fits = y.size() == x.size();
    for (size_t d = 0; fits && d < x.size(); ++d) {
      fits = y[d] == x[d] || !x[d].is_known() || !y[d].is_known();
    }
    if (!fits) {
      return absl::InvalidArgumentError(
          absl::StrCat("the slope's shape ", context.symbols().ToString(slope),
                       " does not broadcast to the input's, ",
                       context.symbols().ToString(x)));
    }
  }
  context.SetOutput(0, context.dtype(0), x);
  return absl::OkStatus();
}

}  // namespace

OpDef PReluDef() {
  return {.op = OpKind::kPRelu,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
