// Resize: an image of any rank sampled on another grid. Operator set 10 has
// nearest and linear by scales alone, 11 the coordinate modes, cubic and sizes,
// 18 antialiasing, axes and policies. Upsample is what Resize was called
// before.

#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/api/resize_extents.h"
#include "engine/graph/status_macros.h"
#include "engine/ops/constant_values.h"
#include "engine/ops/infer_context.h"
#include "engine/ops/node_reader.h"
#include "engine/ops/op_def.h"

namespace tensord {
namespace {

constexpr DType kFloat32Only[] = {DType::kFloat32};

template <typename Enum>
struct Choice {
  absl::string_view name;
  Enum value;
  int64_t first_opset = 1;
  int64_t last_opset = 1 << 20;
};

constexpr Choice<ResizeMode> kModes[] = {
    {"nearest", ResizeMode::kNearest},
    {"linear", ResizeMode::kLinear},
    {"cubic", ResizeMode::kCubic, 11},
};
constexpr Choice<ResizeCoordinates> kCoordinates[] = {
    {"half_pixel", ResizeCoordinates::kHalfPixel},
    {"half_pixel_symmetric", ResizeCoordinates::kHalfPixelSymmetric, 19},
    {"pytorch_half_pixel", ResizeCoordinates::kPytorchHalfPixel},
    {"align_corners", ResizeCoordinates::kAlignCorners},
    {"asymmetric", ResizeCoordinates::kAsymmetric},
    {"tf_half_pixel_for_nn", ResizeCoordinates::kTfHalfPixelForNn, 11, 17},
    {"tf_crop_and_resize", ResizeCoordinates::kTfCropAndResize},
};
constexpr Choice<ResizeRounding> kRoundings[] = {
    {"round_prefer_floor", ResizeRounding::kRoundPreferFloor},
    {"round_prefer_ceil", ResizeRounding::kRoundPreferCeil},
    {"floor", ResizeRounding::kFloor},
    {"ceil", ResizeRounding::kCeil},
};
constexpr Choice<ResizePolicy> kPolicies[] = {
    {"stretch", ResizePolicy::kStretch},
    {"not_larger", ResizePolicy::kNotLarger},
    {"not_smaller", ResizePolicy::kNotSmaller},
};

// The attribute's value among `choices`, the first of which is the default.
template <typename Enum, size_t kCount>
absl::StatusOr<Enum> ReadChoice(NodeReader& node, absl::string_view name,
                                const Choice<Enum> (&choices)[kCount]) {
  TENSORD_ASSIGN_OR_RETURN(const std::string given,
                           node.String(name, choices[0].name));
  std::string allowed;
  for (const Choice<Enum>& choice : choices) {
    if (node.opset() < choice.first_opset || node.opset() > choice.last_opset) {
      continue;
    }
    if (given == choice.name) return choice.value;
    absl::StrAppend(&allowed, allowed.empty() ? "" : ", ", choice.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("attribute '", name, "' is not one of ", allowed));
}

absl::StatusOr<OpParams> ReadScalesOnly(NodeReader& node) {
  ResizeParams params;
  TENSORD_ASSIGN_OR_RETURN(params.mode, ReadChoice(node, "mode", kModes));
  params.coordinates = ResizeCoordinates::kAsymmetric;
  params.rounding = ResizeRounding::kUnsaid;
  params.roi_input = 0;
  params.scales_input = 1;
  params.sizes_input = 0;
  return params;
}

absl::StatusOr<OpParams> ReadUpsample(NodeReader& node) {
  if (node.opset() < 9) {
    TENSORD_ASSIGN_OR_RETURN(const std::vector<float> scales,
                             node.Floats("scales"));
    TENSORD_ASSIGN_OR_RETURN(
        const Shape shape,
        Shape::Create({static_cast<int64_t>(scales.size())}));
    TENSORD_RETURN_IF_ERROR(node.SetConstantInput(
        1, HostTensor::Make(DType::kFloat32, shape, [&scales](auto bytes) {
          if (bytes.empty()) return;
          std::memcpy(bytes.data(), scales.data(), bytes.size());
        })));
  }
  // Its last version is the first of Resize.
  return ReadScalesOnly(node);
}

absl::StatusOr<OpParams> ReadResize(NodeReader& node) {
  if (node.opset() < 11) {
    if (node.input_count() == 2) return ReadScalesOnly(node);
    return absl::InvalidArgumentError(
        absl::StrCat(node.input_count(), " inputs, not 2 (data, scales)"));
  }
  ResizeParams params;
  TENSORD_ASSIGN_OR_RETURN(params.mode, ReadChoice(node, "mode", kModes));
  TENSORD_ASSIGN_OR_RETURN(
      params.coordinates,
      ReadChoice(node, "coordinate_transformation_mode", kCoordinates));
  TENSORD_ASSIGN_OR_RETURN(params.rounding,
                           ReadChoice(node, "nearest_mode", kRoundings));
  TENSORD_ASSIGN_OR_RETURN(params.cubic_coefficient,
                           node.Float("cubic_coeff_a", -0.75f));
  TENSORD_ASSIGN_OR_RETURN(params.exclude_outside,
                           node.Bool("exclude_outside", false));
  TENSORD_ASSIGN_OR_RETURN(params.extrapolation_value,
                           node.Float("extrapolation_value", 0));
  if (node.opset() < 18) return params;
  TENSORD_ASSIGN_OR_RETURN(params.antialias, node.Bool("antialias", false));
  TENSORD_ASSIGN_OR_RETURN(
      params.policy, ReadChoice(node, "keep_aspect_ratio_policy", kPolicies));
  TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, node.Ints("axes"));
  params.axes.assign(axes.begin(), axes.end());
  return params;
}

// Whether an optional input is there; an empty tensor stands for none.
bool IsGiven(const InferContext& context, int i) {
  if (i == 0 || !context.has_input(i)) return false;
  return context.rank(i) != 1 || context.shape(i)[0] != Dim::Known(0);
}

class ResizeRule {
 public:
  explicit ResizeRule(InferContext& context)
      : context_(context), params_(context.params<ResizeParams>()) {}

  absl::Status Apply() {
    TENSORD_RETURN_IF_ERROR(FindDimensions());
    TENSORD_RETURN_IF_ERROR(CheckRoi());
    const bool has_scales = IsGiven(context_, params_.scales_input);
    const bool has_sizes = IsGiven(context_, params_.sizes_input);
    if (has_scales == has_sizes) {
      return absl::InvalidArgumentError(
          has_scales ? "both scales and sizes are given"
                     : "neither scales nor sizes are given");
    }
    return has_scales ? ByScales() : BySizes();
  }

 private:
  absl::Status FindDimensions() {
    const int rank = context_.rank(0);
    TENSORD_RETURN_IF_ERROR(MarkAxes(context_, params_.axes, rank).status());
    for (int64_t axis : params_.axes) {
      dimensions_.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
    }
    if (!dimensions_.empty()) return absl::OkStatus();
    for (int d = 0; d < rank; ++d) dimensions_.push_back(d);
    return absl::OkStatus();
  }

  absl::Status CheckCount(int i, size_t count, absl::string_view what) const {
    TENSORD_RETURN_IF_ERROR(context_.CheckRank(i, 1, 1));
    return context_.CheckSameDim(
        absl::StrCat("number of ", what, " and what it should be:"),
        context_.shape(i)[0], Dim::Known(static_cast<int64_t>(count)));
  }

  // The region is read when a kernel is made ready.
  absl::Status CheckRoi() const {
    if (params_.coordinates != ResizeCoordinates::kTfCropAndResize) {
      return absl::OkStatus();
    }
    if (!IsGiven(context_, params_.roi_input)) {
      return absl::InvalidArgumentError("input 1 (roi) is missing");
    }
    TENSORD_RETURN_IF_ERROR(
        context_.CheckDType(params_.roi_input, kFloat32Only));
    TENSORD_RETURN_IF_ERROR(
        CheckCount(params_.roi_input, 2 * dimensions_.size(), "region bounds"));
    if (context_.constant(params_.roi_input) != nullptr) {
      return absl::OkStatus();
    }
    return context_.NeedsValue(params_.roi_input);
  }

  absl::Status ByScales() {
    const int input = params_.scales_input;
    TENSORD_RETURN_IF_ERROR(context_.CheckDType(input, kFloat32Only));
    TENSORD_RETURN_IF_ERROR(CheckCount(input, dimensions_.size(), "scales"));
    if (context_.constant(input) == nullptr) return context_.NeedsValue(input);
    const absl::Span<const float> scales =
        context_.constant(input)->values<float>();
    SymbolicShape y = context_.shape(0);
    for (size_t i = 0; i < dimensions_.size(); ++i) {
      if (!(scales[i] > 0) || !std::isfinite(scales[i])) {
        return absl::InvalidArgumentError(
            absl::StrCat("scale ", i, " is ", scales[i]));
      }
      Dim& dim = y[dimensions_[i]];
      dim = Scaled(dim, scales[i]);
    }
    return SetOutput(std::move(y));
  }

  Dim Scaled(Dim dim, float scale) {
    if (dim.is_known()) {
      return Dim::Known(ResizeExtents::ByScale(dim.extent(), scale));
    }
    if (scale == std::floor(scale) && scale < (1 << 24)) {
      return context_.symbols().Multiply(
          dim, Dim::Known(static_cast<int64_t>(scale)));
    }
    return context_.UnknownDim();
  }

  absl::Status BySizes() {
    const int input = params_.sizes_input;
    TENSORD_RETURN_IF_ERROR(context_.CheckDType(input, kInt64Only));
    TENSORD_RETURN_IF_ERROR(CheckCount(input, dimensions_.size(), "sizes"));
    if (context_.constant(input) == nullptr) return context_.NeedsValue(input);
    const std::vector<int64_t> sizes = ConstantIntegers(context_, input);
    SymbolicShape y = context_.shape(0);
    bool is_known = true;
    for (size_t i = 0; i < dimensions_.size(); ++i) {
      if (sizes[i] < 0 || sizes[i] > kMaxElementCount) {
        return absl::InvalidArgumentError(
            absl::StrCat("size ", i, " is ", sizes[i]));
      }
      Dim& dim = y[dimensions_[i]];
      is_known = is_known && dim.is_known();
      dim = Dim::Known(sizes[i]);
    }
    if (params_.policy == ResizePolicy::kStretch)
      return SetOutput(std::move(y));
    if (!is_known) {
      for (int d : dimensions_) y[d] = context_.UnknownDim();
      return SetOutput(std::move(y));
    }
    // Dimensions that stay may be symbols; their extent does not matter.
    Dims extents;
    for (Dim dim : context_.shape(0)) {
      extents.push_back(dim.is_known() ? dim.extent() : 1);
    }
    TENSORD_ASSIGN_OR_RETURN(const Shape x, Shape::Create(extents));
    const ResizeExtents resized(x, params_.policy, dimensions_, {}, sizes);
    for (int d : dimensions_) y[d] = Dim::Known(resized.extents[d]);
    return SetOutput(std::move(y));
  }

  absl::Status SetOutput(SymbolicShape y) {
    for (int d : dimensions_) {
      if (context_.shape(0)[d] == Dim::Known(0) && y[d].is_known() &&
          y[d].extent() > 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("dimension ", d, " has extent 0: nothing to sample"));
      }
    }
    context_.SetOutput(0, context_.dtype(0), std::move(y));
    return absl::OkStatus();
  }

  InferContext& context_;
  const ResizeParams& params_;
  std::vector<int> dimensions_;  // that are resized
};

absl::Status Infer(InferContext& context) {
  TENSORD_RETURN_IF_ERROR(context.CheckRank(0, 1, kMaxRank));
  return ResizeRule(context).Apply();
}

}  // namespace

OpDef ResizeDef() {
  return {.op = OpKind::kResize,
          .min_inputs = 1,
          .max_inputs = 4,
          .read = &ReadResize,
          .infer = &Infer};
}

OpDef UpsampleDef() {
  return {.op = OpKind::kUpsample,
          .min_inputs = 1,
          .max_inputs = 2,
          .read = &ReadUpsample,
          .required_inputs = 2,
          .infer = &Infer};
}

}  // namespace tensord
