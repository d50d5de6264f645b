// Col2Im: blocks of an image, one a column, added up at their places. Inputs:
// columns [batch, channels * block, blocks], the image's shape, a block's.

#include <vector>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/dtype_sets.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr int kImage = 1;
constexpr int kBlock = 2;

absl::Status ReadInts(NodeReader& node, absl::string_view name, int64_t least,
                      Dims& values) {
  TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> given, node.Ints(name));
  for (int64_t value : given) {
    if (value < least || value > kMaxElementCount) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute '", name, "' has ", value, ", outside [",
                       least, ", ", kMaxElementCount, "]"));
    }
  }
  values.assign(given.begin(), given.end());
  return absl::OkStatus();
}

absl::StatusOr<OpParams> Read(NodeReader& node) {
  Col2ImParams params;
  TENSORD_RETURN_IF_ERROR(ReadInts(node, "dilations", 1, params.dilations));
  TENSORD_RETURN_IF_ERROR(ReadInts(node, "strides", 1, params.strides));
  TENSORD_RETURN_IF_ERROR(ReadInts(node, "pads", 0, params.pads));
  return params;
}

class Col2ImRule {
 public:
  explicit Col2ImRule(InferContext& context)
      : context_(context),
        params_(context.params<Col2ImParams>()),
        image_(ConstantIntegers(context, kImage)),
        block_(ConstantIntegers(context, kBlock)) {}

  absl::Status Apply() {
    TENSORD_RETURN_IF_ERROR(CheckCounts());
    int64_t block_elements = 1;
    int64_t blocks = 1;
    for (size_t d = 0; d < image_.size(); ++d) {
      if (image_[d] < 1 || image_[d] > kMaxElementCount || block_[d] < 1 ||
          block_[d] > image_[d] + kMaxElementCount) {
        return absl::InvalidArgumentError(absl::StrCat(
            "dimension ", d, ": image ", image_[d], ", block ", block_[d]));
      }
      block_elements = Clamped(block_elements, block_[d]);
      TENSORD_ASSIGN_OR_RETURN(const int64_t count, BlocksAlong(d));
      blocks = Clamped(blocks, count);
    }
    TENSORD_RETURN_IF_ERROR(context_.CheckSameDim("number of blocks should be",
                                                  Dim::Known(blocks),
                                                  context_.shape(0)[2]));
    const Dim rows = context_.shape(0)[1];
    if (rows.is_known() && rows.extent() % block_elements != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("extent ", rows.extent(), " of dimension 1 is no ",
                       "multiple of a block's ", block_elements, " elements"));
    }
    SymbolicShape y = {
        context_.shape(0)[0],
        context_.symbols().FloorDivide(rows, Dim::Known(block_elements))};
    for (int64_t extent : image_) y.push_back(Dim::Known(extent));
    context_.SetOutput(0, context_.dtype(0), std::move(y));
    return absl::OkStatus();
  }

 private:
  absl::Status CheckCounts() const {
    const size_t rank = image_.size();
    const auto fits = [](const Dims& list, size_t count) {
      return list.empty() || list.size() == count;
    };
    if (rank >= 1 && rank + 2 <= kMaxRank && block_.size() == rank &&
        fits(params_.dilations, rank) && fits(params_.strides, rank) &&
        fits(params_.pads, 2 * rank)) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "an image of rank ", rank, " with a block of ", block_.size(), ", ",
        params_.dilations.size(), " dilations, ", params_.strides.size(),
        " strides and ", params_.pads.size(), " pads"));
  }

  static int64_t Clamped(int64_t a, int64_t b) {
    return b != 0 && a > kMaxElementCount / b ? kMaxElementCount : a * b;
  }

  absl::StatusOr<int64_t> BlocksAlong(size_t d) const {
    const auto or_default = [](const Dims& list, size_t i, int64_t value) {
      return list.empty() ? value : list[i];
    };
    const __int128 dilation = or_default(params_.dilations, d, 1);
    const int64_t stride = or_default(params_.strides, d, 1);
    const int64_t padded = image_[d] + or_default(params_.pads, d, 0) +
                           or_default(params_.pads, d + image_.size(), 0);
    const __int128 reach = dilation * (block_[d] - 1) + 1;
    if (reach > padded) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, ": a block of ", block_[d],
                       " does not fit into ", padded));
    }
    return (padded - static_cast<int64_t>(reach)) / stride + 1;
  }

  InferContext& context_;
  const Col2ImParams& params_;
  const std::vector<int64_t> image_;
  const std::vector<int64_t> block_;
};

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckDType(0, kFloatDTypes));
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 3, 3));
  for (int i : {kImage, kBlock}) {
    TENSORD_RETURN_IF_ERROR(context.CheckDType(i, kInt64Only));
    TENSORD_RETURN_IF_ERROR(context.CheckRank(i, 1, 1));
    if (context.constant(i) == nullptr) return context.NeedsValue(i);
  }
  return Col2ImRule(context).Apply();
}

}  // namespace

OpDef Col2ImDef() {
  return {.op = OpKind::kCol2Im,
          .min_inputs = 3,
          .max_inputs = 3,
          .read = &Read,
          .infer = &Infer};
}

}  // namespace tensord
