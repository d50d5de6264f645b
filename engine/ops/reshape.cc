// Reshape: the same elements under the shape that input 1 says. A 0 there
// copies the input's extent (with allowzero it is an extent of 0), and one -1
// stands for what is left.

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

absl::StatusOr<OpParams> Read(NodeReader& node) {
  ReshapeParams params;
  if (node.opset() >= 14) {
    TENSORD_ASSIGN_OR_RETURN(params.allow_zero, node.Bool("allowzero", false));
  }
  return params;
}

class ShapeRule {
 public:
  ShapeRule(InferContext& context, absl::Span<const int64_t> wanted)
      : symbols_(context.symbols()),
        x_(context.shape(0)),
        allow_zero_(context.params<ReshapeParams>().allow_zero),
        wanted_(wanted) {}

  absl::StatusOr<SymbolicShape> Apply() {
    if (wanted_.size() > kMaxRank) {
      return absl::InvalidArgumentError(
          absl::StrCat("a shape of rank ", wanted_.size(),
                       " is above the limit of ", kMaxRank));
    }
    for (size_t i = 0; i < wanted_.size(); ++i) {
      TENSORD_RETURN_IF_ERROR(Add(i));
    }
    // Extents that are copied cancel out, so that an empty batch leaves a -1
    // beside it well defined.
    Dim left = Dim::Known(1);
    for (size_t d = 0; d < x_.size(); ++d) {
      if (!IsCopied(d)) left = symbols_.Multiply(left, x_[d]);
    }
    if (inferred_ < 0) {
      if (left.is_known() && stated_.is_known() && left != stated_) {
        return Mismatch();
      }
      return y_;
    }
    if (stated_ == Dim::Known(0)) {
      return absl::InvalidArgumentError(
          "a shape with both 0 and -1 says nothing about the -1");
    }
    if (left.is_known() && left.extent() % stated_.extent() != 0) {
      return Mismatch();
    }
    y_[inferred_] = symbols_.FloorDivide(left, stated_);
    return y_;
  }

 private:
  absl::Status Add(size_t i) {
    const int64_t extent = wanted_[i];
    if (extent < -1) {
      return absl::InvalidArgumentError(absl::StrCat(
          "element ", i, " of the shape is ", extent, ", below -1"));
    }
    if (extent == -1) {
      if (inferred_ >= 0) {
        return absl::InvalidArgumentError(absl::StrCat(
            "elements ", inferred_, " and ", i, " of the shape are both -1"));
      }
      inferred_ = static_cast<int>(i);
      y_.push_back(Dim::Known(0));
      return absl::OkStatus();
    }
    if (IsCopied(i)) {
      y_.push_back(x_[i]);
      return absl::OkStatus();
    }
    if (extent == 0 && !allow_zero_) {
      return absl::InvalidArgumentError(
          absl::StrCat("element ", i, " of the shape copies an extent, but ",
                       "the input has rank ", x_.size()));
    }
    y_.push_back(Dim::Known(extent));
    stated_ = symbols_.Multiply(stated_, Dim::Known(extent));
    return absl::OkStatus();
  }

  bool IsCopied(size_t d) const {
    return !allow_zero_ && d < wanted_.size() && wanted_[d] == 0 &&
           d < x_.size();
  }

  absl::Status Mismatch() const {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot reshape ", symbols_.ToString(x_), " to [",
                     absl::StrJoin(wanted_, ", "), "]"));
  }

  SymbolTable& symbols_;
  const SymbolicShape& x_;
  const bool allow_zero_;
  const absl::Span<const int64_t> wanted_;
  SymbolicShape y_;
  Dim stated_ = Dim::Known(1);  // product of what is neither copied nor -1
  int inferred_ = -1;           // which element is -1
};

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(1, kInt64Only));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(1, 1, 1));
  if (context.constant(1) == nullptr) return context.NeedsValue(1);
  const std::vector<int64_t> wanted = ConstantIntegers(context, 1);
  TENSORD_ASSIGN_OR_RETURN(SymbolicShape y, ShapeRule(context, wanted).Apply());
  context.SetOutput(0, context.dtype(0), std::move(y));
  return absl::OkStatus();
}

}  // namespace

OpDef ReshapeDef() {
  return {.op = OpKind::kReshape,
          .min_inputs = 2,
          .max_inputs = 2,
          .read = &Read,
          .infer = &Infer,
          .is_view = true};
}

}  // namespace tensord
