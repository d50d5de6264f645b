// Size: the number of the input's elements as an int64 scalar. No kernel is
// needed where its extents are known.

#include <cstring>

#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::Status Infer(InferContext& context) {
  Dim count = Dim::Known(1);
  for (Dim dim : context.shape(0)) {
    count = context.symbols().Multiply(count, dim);
  }
  if (!count.is_known()) {
    context.SetOutput(0, DType::kInt64, {});
    return absl::OkStatus();
  }
  context.SetOutputConstant(
      0, HostTensor::Make(DType::kInt64, {}, [count](auto bytes) {
        const int64_t value = count.extent();
        std::memcpy(bytes.data(), &value, sizeof(value));
      }));
  return absl::OkStatus();
}

}  // namespace

OpDef SizeDef() {
  return {
      .op = OpKind::kSize, .min_inputs = 1, .max_inputs = 1, .infer = &Infer};
}

}  // namespace tensord
