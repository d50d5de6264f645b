// Range: start, start + delta, ... up to limit, which is not reached. 16-bit
// floats are float32 in between.

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "backends/api/float16.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kRangeDTypes[] = {
    DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16,
    DType::kInt16,   DType::kInt32,   DType::kInt64};
// Of ONNX's DataType.
constexpr int64_t kStashFloat = 1;

absl::Status TooMany() {
  return absl::InvalidArgumentError(
      absl::StrCat("the range has more than ", kMaxElementCount, " elements"));
}

absl::StatusOr<int64_t> CountOf(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (std::isnan(count)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a range from ", start, " to ", limit, " by ", delta, " has no end"));
  }
  if (count > static_cast<double>(kMaxElementCount)) return TooMany();
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

absl::StatusOr<int64_t> CountOf(int64_t start, int64_t limit, int64_t delta) {
  const __int128 length = __int128{limit} - start;
  const __int128 step = delta;
  if (length == 0 || (length > 0) != (step > 0)) return 0;
  // Away from zero by the sign that both have.
  const __int128 count = (length + step + (step > 0 ? -1 : 1)) / step;
  if (count > kMaxElementCount) return TooMany();
  return static_cast<int64_t>(count);
}

template <typename T>
absl::StatusOr<int64_t> Count(const InferContext& context) {
  using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const Wide start = context.constant(0)->values<T>()[0];
  const Wide limit = context.constant(1)->values<T>()[0];
  const Wide delta = context.constant(2)->values<T>()[0];
  if (delta == 0) return absl::InvalidArgumentError("delta is 0");
  return CountOf(start, limit, delta);
}

absl::StatusOr<int64_t> CountElements(const InferContext& context) {
  switch (context.dtype(0)) {
    case DType::kFloat32:
      return Count<float>(context);
    case DType::kFloat64:
      return Count<double>(context);
    case DType::kFloat16:
      return Count<Float16>(context);
    case DType::kBFloat16:
      return Count<BFloat16>(context);
    case DType::kInt16:
      return Count<int16_t>(context);
    case DType::kInt32:
      return Count<int32_t>(context);
    default:
      return Count<int64_t>(context);
  }
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  if (node.opset() >= 27) {
    TENSORD_ASSIGN_OR_RETURN(const int64_t stash,
                             node.Int("stash_type", kStashFloat));
    if (stash != kStashFloat) {
      return absl::UnimplementedError(absl::StrCat(
          "attribute 'stash_type' is ", stash, ", not ", kStashFloat));
    }
  }
  return NoParams();
}

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kRangeDTypes));
  for (int i = 0; i < 3; ++i) {
    TENSORD_RETURN_IF_ERROR(context.CheckSameDType(0, i));
    TENSORD_RETURN_IF_ERROR(context.CheckOneElement(i));
  }
  for (int i = 0; i < 3; ++i) {
    if (context.constant(i) == nullptr) return context.NeedsValue(i);
  }
  TENSORD_ASSIGN_OR_RETURN(const int64_t count, CountElements(context));
  context.SetOutput(0, context.dtype(0), {Dim::Known(count)});
  return absl::OkStatus();
}

}  // namespace

OpDef RangeDef() {
  return {.op = OpKind::kRange,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
