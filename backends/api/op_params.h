#ifndef TENSORD_BACKENDS_API_OP_PARAMS_H_
#define TENSORD_BACKENDS_API_OP_PARAMS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "backends/api/dtype.h"
#include "backends/api/expression.h"
#include "backends/api/shape.h"

namespace tensord {

// The typed parameters of one node: ONNX attributes, parsed and checked once,
// when the graph is read. One struct per operator family.
//
// Attributes that later operator versions turned into inputs (Pad's pads,
// Reshape's shape, ...) are inputs here too: the reader makes them constants.
// Conventions: axes are normalised to [0, rank) where the rank is known by the
// attribute alone, else kept as given; pads list the begins, then the ends.
// Threading and ownership: plain values.

struct NoParams {};

enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };

// Conv, ConvTranspose. Empty vectors stand for the standard's defaults (stride
// and dilation 1, pad 0, kernel shape as the weights say).
struct ConvParams {
  Dims kernel_shape;
  Dims strides;
  Dims dilations;
  Dims pads;
  int64_t group = 1;
  AutoPad auto_pad = AutoPad::kNotSet;
  // ConvTranspose only. Empty: no extra rows, and the extents that follow from
  // the rest.
  Dims output_padding;
  // Input 0 and the output have their channels in the last dimension instead of
  // the second. A pass sets it; the weights stay as the standard has them.
  bool channels_last = false;
  Dims output_shape;
};

// MaxPool, AveragePool, LpPool, MaxUnpool. The global forms have NoParams.
struct PoolParams {
  Dims kernel_shape;
  Dims strides;
  Dims dilations;
  Dims pads;
  AutoPad auto_pad = AutoPad::kNotSet;
  bool ceil_mode = false;
  bool count_include_pad = false;  // AveragePool only
  // MaxPool's second output: the last two dimensions are counted the other way
  // round.
  bool indices_are_column_major = false;
  int64_t p = 2;  // LpPool and GlobalLpPool
  // As ConvParams::channels_last.
  bool channels_last = false;
};

// Softmax, LogSoftmax. Before version 13 of the operator set they saw the input
// as a matrix: the dimensions before `axis` by all the others.
struct SoftmaxParams {
  int64_t axis = -1;
  bool flattens_at_axis = false;
};

struct BatchNormalizationParams {
  float epsilon = 1e-5f;
};

struct GemmParams {
  float alpha = 1.0f;
  float beta = 1.0f;
  bool transpose_a = false;
  bool transpose_b = false;
};

// Operators with one axis: Concat, Flatten, Gather, ...; may be negative,
// counting from the end.
struct AxisParams {
  int64_t axis = 0;
};

enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };

struct PadParams {
  PadMode mode = PadMode::kConstant;
};

struct ReshapeParams {
  // With true, a 0 in the shape is an extent of 0; else it copies the input's.
  bool allow_zero = false;
};

struct TransposeParams {
  Dims permutation;  // empty: reverse all dimensions
};

// To float8e8m0, whose numbers are the powers of two. Ties of kNearest go up.
enum class PowerRounding : uint8_t { kUp, kDown, kNearest };

// Cast, CastLike (whose `to` is the dtype of input 1), BitCast (`to` alone).
struct CastParams {
  DType to = DType::kUndefined;
  // Too large for an 8-bit float: its largest number, else infinity or NaN.
  bool saturates = true;
  PowerRounding rounding = PowerRounding::kUp;
};

// The dimensions [start, end) of the input's shape; both may be negative,
// counting from the end, and are clamped to the rank.
struct ShapeParams {
  int64_t start = 0;
  int64_t end = kMaxRank;
};

// LeakyRelu, Elu, Celu, ThresholdedRelu, Swish; the default is the operator's.
struct AlphaParams {
  float alpha = 1.0f;
};

struct HardSigmoidParams {
  float alpha = 0.2f;
  float beta = 0.5f;
};

struct SeluParams {
  float alpha = 0;
  float gamma = 0;
};

struct GeluParams {
  bool approximates_by_tanh = false;
};

struct IsInfParams {
  bool detects_negative = true;
  bool detects_positive = true;
};

struct ModParams {
  // The sign of the dividend, as C's fmod(); else that of the divisor.
  bool is_fmod = false;
};

struct BitShiftParams {
  bool is_left = true;
};

// LayerNormalization and RMSNormalization (axis), GroupNormalization
// (group_count), InstanceNormalization.
struct NormalizationParams {
  float epsilon = 1e-5f;
  int64_t axis = -1;
  int64_t group_count = 1;
  // GroupNormalization up to operator set 20: scale and bias are per group, not
  // per channel.
  bool scales_groups = false;
  // Of LayerNormalization's mean and inverse deviation.
  DType statistics_dtype = DType::kFloat32;
  // LayerNormalization only: input 3 is added to input 0 first. A pass sets it.
  bool has_skip = false;
};

// Over `size` neighbouring channels.
struct LrnParams {
  float alpha = 0.0001f;
  float beta = 0.75f;
  float bias = 1;
  int64_t size = 1;
};

struct LpNormalizationParams {
  int64_t axis = -1;
  int64_t p = 2;
};

enum class RnnDirection : uint8_t { kForward, kReverse, kBidirectional };

enum class RnnFunction : uint8_t {
  kAffine,
  kElu,
  kHardSigmoid,
  kLeakyRelu,
  kRelu,
  kScaledTanh,
  kSigmoid,
  kSoftplus,
  kSoftsign,
  kTanh,
  kThresholdedRelu,
};

struct RnnActivation {
  RnnFunction function = RnnFunction::kTanh;
  float alpha = 0;
  float beta = 0;
};

// RNN, GRU, LSTM.
struct RnnParams {
  RnnDirection direction = RnnDirection::kForward;
  // A direction's functions, then the other's: f (RNN), f g (GRU), f g h
  // (LSTM).
  absl::InlinedVector<RnnActivation, 6> activations;
  std::optional<float> clip;
  int64_t hidden_size = 0;  // 0: as the weights say
  bool has_batch_first = false;
  bool couples_input_and_forget = false;     // LSTM only
  bool applies_reset_after_product = false;  // GRU only
};

// Einsum. A term is the letters of one operand's dimensions, with '.' where the
// ellipsis stands.
struct EinsumParams {
  std::vector<std::string> input_terms;
  std::string output_term;
};

// QuantizeLinear, DequantizeLinear.
struct QuantizeParams {
  int64_t axis = 1;        // of a scale that is no scalar
  int64_t block_size = 0;  // elements of a scale along the axis; 0: all
  DType output_dtype = DType::kUndefined;  // as the inputs say
  // QuantizeLinear: what x / scale is rounded to before it becomes an integer.
  DType precision = DType::kUndefined;  // the scale's
  bool saturates = true;
};

// Attention.
struct AttentionParams {
  bool is_causal = false;
  int64_t query_heads = 0;  // 0: the inputs have a dimension for them
  int64_t key_value_heads = 0;
  std::optional<float> scale;  // else 1 / sqrt(head size)
  float softcap = 0;           // 0: none
  // What the fourth output holds: 0 the products, 1 after the softcap, 2 with
  // the masks, 3 after the softmax.
  int64_t matmul_output_mode = 0;
  // How far from its own position a query sees to either side; -1: all.
  int64_t left_window = -1;
  int64_t right_window = -1;
  DType softmax_dtype = DType::kUndefined;  // as the inputs say
  // Queries, keys and values follow each other in the last dimension of input
  // 0, [batch, sequence, (query_heads + 2 * key_value_heads) * size]; inputs 1
  // and 2 are absent. A pass sets it.
  bool packs_qkv = false;
};

struct RotaryEmbeddingParams {
  bool is_interleaved = false;
  int64_t head_count = 0;         // 0: the input has a dimension for them
  int64_t rotary_dimensions = 0;  // 0: all
};

enum class GridSampleMode : uint8_t { kNearest, kLinear, kCubic };
enum class GridSamplePadding : uint8_t { kZeros, kBorder, kReflection };

struct GridSampleParams {
  GridSampleMode mode = GridSampleMode::kLinear;
  GridSamplePadding padding = GridSamplePadding::kZeros;
  bool aligns_corners = false;  // AffineGrid has only this one
};

struct RoiAlignParams {
  int64_t output_height = 1;
  int64_t output_width = 1;
  int64_t sampling_ratio = 0;
  float spatial_scale = 1;
  bool takes_max = false;  // else the mean
  bool is_half_pixel = true;
};

struct DftParams {
  int64_t axis = -2;
  bool is_inverse = false;
  bool is_one_sided = false;
};

// HannWindow, HammingWindow, BlackmanWindow; MelWeightMatrix (dtype).
struct WindowParams {
  DType dtype = DType::kFloat32;
  bool is_periodic = true;
};

// DeformConv.
struct DeformConvParams {
  ConvParams conv;
  int64_t offset_group = 1;
};

// Bernoulli, Multinomial, RandomNormal, RandomUniform and their Like forms.
struct RandomParams {
  DType dtype = DType::kUndefined;  // the input's
  std::optional<float> seed;        // else no two runs draw the same
  // Of uniform numbers, the latter left out.
  float low = 0;
  float high = 1;
  // Of normal numbers; the scale is their deviation.
  float mean = 0;
  float scale = 1;
  Dims shape;                // of the output, where there is no input
  int64_t sample_count = 1;  // Multinomial: for each row
};

// ReduceSum and its siblings; the axes are input 1.
struct ReduceParams {
  bool keep_dims = true;
  // Without axes: reduce over none of the dimensions instead of all.
  bool noop_with_empty_axes = false;
};

// ArgMax, ArgMin. Of several equal extremes the first is taken, or the last.
struct ArgReduceParams {
  int64_t axis = 0;
  bool keep_dims = true;
  bool selects_last = false;
};

struct CumSumParams {
  bool is_exclusive = false;  // the element itself is left out
  bool is_reverse = false;
};

struct TriluParams {
  bool is_upper = true;
};

// Without extents in input 1 the parts are equal; where they do not come out
// even the last may be smaller.
struct SplitParams {
  int64_t axis = 0;
  bool last_may_be_smaller = false;
};

// ConstantOfShape: one value of up to 64 bits, in the low bytes of `bits`.
struct FillParams {
  DType dtype = DType::kFloat32;
  uint64_t bits = 0;
};

enum class ScatterReduction : uint8_t { kNone, kAdd, kMul, kMax, kMin };

// Scatter, ScatterElements (axis), ScatterND (no axis).
struct ScatterParams {
  int64_t axis = 0;
  ScatterReduction reduction = ScatterReduction::kNone;
};

struct TopKParams {
  int64_t axis = -1;
  bool takes_largest = true;
};

struct EyeLikeParams {
  DType dtype = DType::kUndefined;  // the input's
  int64_t diagonal = 0;
};

struct ReverseSequenceParams {
  // The time is dimension 0 and the batch 1; else the other way round.
  bool is_time_first = true;
};

// Compress. Without an axis the input is seen as one line.
struct OptionalAxisParams {
  std::optional<int64_t> axis;
};

struct UniqueParams {
  std::optional<int64_t> axis;
  bool is_sorted = true;  // else by first occurrence
};

struct NonMaxSuppressionParams {
  // Boxes are (centre x, centre y, width, height), else two corners (y, x).
  bool has_centres = false;
};

// MeanVarianceNormalization, CenterCropPad.
struct AxesParams {
  Dims axes;
};

// Empty vectors stand for the standard's defaults: 1, 1 and 0.
struct Col2ImParams {
  Dims dilations;
  Dims strides;
  Dims pads;
};

struct GatherNdParams {
  int64_t batch_dims = 0;
};

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };

// How a coordinate of the output becomes one of the input.
enum class ResizeCoordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfHalfPixelForNn,
  kTfCropAndResize,
};

enum class ResizeRounding : uint8_t {
  kRoundPreferFloor,
  kRoundPreferCeil,
  kFloor,
  kCeil,
  // Of operator sets below 11, which did not say: down where the image grows,
  // up where it shrinks.
  kUnsaid,
};

// What sizes mean: both as given, or the largest (smallest) image of the
// input's aspect ratio that is not larger (smaller) than them.
enum class ResizePolicy : uint8_t { kStretch, kNotLarger, kNotSmaller };

// Resize and Upsample. Inputs: the image, then roi, scales, sizes, or
// (roi_input 0) scales alone.
struct ResizeParams {
  ResizeMode mode = ResizeMode::kNearest;
  ResizeCoordinates coordinates = ResizeCoordinates::kHalfPixel;
  ResizeRounding rounding = ResizeRounding::kRoundPreferFloor;
  ResizePolicy policy = ResizePolicy::kStretch;
  Dims axes;  // that are resized, may be negative; empty: all
  bool antialias = false;
  bool exclude_outside = false;
  float cubic_coefficient = -0.75f;
  float extrapolation_value = 0;
  int roi_input = 1;  // 0: there is none
  int scales_input = 2;
  int sizes_input = 3;  // 0: there is none
};

// DepthToSpace, SpaceToDepth.
struct BlockParams {
  int64_t block_size = 1;
  // DepthToSpace: the block's place is the slow part of the depth (DCR) rather
  // than the fast one (CRD).
  bool depth_is_last = true;
};

// What is scanned, along which axes, from which end (1: the last first).
// Shorter lists stand for zeros behind them.
struct ScanParams {
  int64_t scan_input_count = 0;
  Dims input_axes;
  Dims input_directions;
  Dims output_axes;
  Dims output_directions;
};

// SplitToSequence, ConcatFromSequence.
struct SequenceParams {
  int64_t axis = 0;
  bool keep_dims = true;
  bool new_axis = false;
};

// AffineGrid.
struct AffineGridParams {
  bool align_corners = false;
};

// TensorScatter: where the update goes along the axis, past the end or from its
// start again.
struct TensorScatterParams {
  int64_t axis = -2;
  bool is_circular = false;
};

enum class LinearAttentionRule : uint8_t {
  kLinear,
  kGated,
  kDelta,
  kGatedDelta,
};

struct LinearAttentionParams {
  LinearAttentionRule rule = LinearAttentionRule::kGatedDelta;
  int64_t query_heads = 0;
  int64_t key_value_heads = 0;
  float scale = 0;  // 0: 1 / sqrt(head size)
};

struct CausalConvParams {
  bool is_silu = false;  // x * sigmoid(x) behind the sum
};

enum class LossReduction : uint8_t { kNone, kMean, kSum };

// NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss.
struct LossParams {
  LossReduction reduction = LossReduction::kMean;
  std::optional<int64_t> ignore_index;  // a class that counts for nothing
};

// Adagrad, Adam, Momentum: the coefficients by the standard's names.
struct OptimizerParams {
  float alpha = 0;
  float beta = 0;
  float decay_factor = 0;
  float epsilon = 0;
  float norm_coefficient = 0;
  float norm_coefficient_post = 0;
  bool is_nesterov = false;
};

// Every alternative but the first, NoParams.
// clang-format off
#define TENSORD_OP_PARAMS(X) \
  X(ConvParams) \
  X(PoolParams) \
  X(BatchNormalizationParams) \
  X(GemmParams) \
  X(AxisParams) \
  X(PadParams) \
  X(ReshapeParams) \
  X(TransposeParams) \
  X(CastParams) \
  X(SoftmaxParams) \
  X(ShapeParams) \
  X(AlphaParams) \
  X(ReduceParams) \
  X(ArgReduceParams) \
  X(CumSumParams) \
  X(TriluParams) \
  X(SplitParams) \
  X(FillParams) \
  X(ScatterParams) \
  X(GatherNdParams) \
  X(BlockParams) \
  X(ScanParams) \
  X(SequenceParams) \
  X(ResizeParams) \
  X(TopKParams) \
  X(EyeLikeParams) \
  X(ReverseSequenceParams) \
  X(OptionalAxisParams) \
  X(UniqueParams) \
  X(NonMaxSuppressionParams) \
  X(AxesParams) \
  X(Col2ImParams) \
  X(HardSigmoidParams) \
  X(SeluParams) \
  X(GeluParams) \
  X(IsInfParams) \
  X(ModParams) \
  X(BitShiftParams) \
  X(NormalizationParams) \
  X(LrnParams) \
  X(LpNormalizationParams) \
  X(RnnParams) \
  X(EinsumParams) \
  X(QuantizeParams) \
  X(AttentionParams) \
  X(RotaryEmbeddingParams) \
  X(GridSampleParams) \
  X(RoiAlignParams) \
  X(DftParams) \
  X(WindowParams) \
  X(DeformConvParams) \
  X(AffineGridParams) \
  X(TensorScatterParams) \
  X(LinearAttentionParams) \
  X(CausalConvParams) \
  X(LossParams) \
  X(OptimizerParams) \
  X(RandomParams) \
  X(Expression)
// clang-format on

// What a fused node does with the anchor's result before it is stored: input 0
// of the expression is an element of that result, the others are the node's
// inputs behind the anchor's own, which broadcast to the result's shape and
// have its dtype. The result has the shape of the anchor's.
struct Epilogue {
  int own_input_count = 0;  // of the anchor; absent optional ones are counted
  Expression expression;
};

// One of the structs above, std::get<ConvParams>(params) and so on; a struct
// becomes one by itself.
//
// What copies, moves and destroys is compiled once, in op_params.cc: written
// out in place, for so many alternatives, it took seconds in each of the many
// files that handle nodes.
#define TENSORD_ALTERNATIVE(name) , name
class OpParams : public std::variant<NoParams TENSORD_OP_PARAMS(
                     TENSORD_ALTERNATIVE)> {
 public:
  OpParams();  // NoParams
  template <typename Params>
  OpParams(Params params);  // NOLINT: implicit, as the variant's own
  OpParams(const OpParams& other);
  OpParams(OpParams&& other) noexcept;
  OpParams& operator=(const OpParams& other);
  OpParams& operator=(OpParams&& other) noexcept;
  ~OpParams();

  // Null where nothing was fused. Only kernels with KernelCaps::takes_epilogue
  // see nodes with one.
  std::shared_ptr<const Epilogue> epilogue;
};
#undef TENSORD_ALTERNATIVE

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_OP_PARAMS_H_
