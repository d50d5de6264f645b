#include "backends/cpu/kernel_table.h"

#include "backends/cpu/kernel_rows.h"
#include "backends/cpu/kernels/channels_last_kernels.h"
#include "backends/cpu/kernels/decoding_kernels.h"
#include "backends/cpu/kernels/epilogue.h"
#include "backends/cpu/kernels/fused_kernels.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/linear_algebra_kernels.h"
#include "backends/cpu/kernels/movement_costs.h"
#include "backends/cpu/kernels/random_kernels.h"
#include "backends/cpu/kernels/sampling_kernels.h"
#include "backends/cpu/kernels/signal_kernels.h"
#include "backends/cpu/kernels/training_kernels.h"
#if TENSORD_HAVE_ONEDNN
#include "backends/cpu/onednn/onednn_kernels.h"
#endif

namespace tensord {
namespace {

// By operator, in the order of OpKind; an operator's rows in order of
// preference, the portable one last.
constexpr KernelEntry kCpuKernels[] = {
    ALL_NUMBERS(UNARY, Abs, "abs", "unary.cc"),

    ALL_FLOATS(UNARY, Acos, "acos", "trigonometry.cc"),

    ALL_FLOATS(UNARY, Acosh, "acosh", "trigonometry.cc"),

    OPTIMIZERS(Adagrad, "adagrad"),

    OPTIMIZERS(Adam, "adam"),

    ALL_NUMBERS(BINARY, Add, "add", "binary.cc"),

    ALL_FLOATS(AFFINE_GRID),

    LOGIC(And, "and"),

    ALL_NUMBERS(ARG_REDUCE, ArgMax, "arg_max"),

    ALL_NUMBERS(ARG_REDUCE, ArgMin, "arg_min"),

    ALL_FLOATS(UNARY, Asin, "asin", "trigonometry.cc"),

    ALL_FLOATS(UNARY, Asinh, "asinh", "trigonometry.cc"),

    ALL_FLOATS(UNARY, Atan, "atan", "trigonometry.cc"),

    ALL_FLOATS(UNARY, Atanh, "atanh", "trigonometry.cc"),

    ALL_FLOATS(ATTENTION),

    ALL_FLOATS(POOL, AveragePool, "average_pool"),
    ALL_FLOATS(POOL_CHANNELS_LAST, AveragePool, "average_pool"),

    ALL_FLOATS(BATCH_NORMALIZATION),

    ALL_NUMBERS(BERNOULLI),
    BERNOULLI(bool, "bool"),

    KERNEL(BitCast, "bit_cast_bytes", AnyDTypes(), "cast.cc",
           .run = &RunBitCast, .caps = {.in_place_inputs = 0b1}),

    BIT_SHIFT(uint8_t, "u8"),
    BIT_SHIFT(uint16_t, "u16"),
    BIT_SHIFT(uint32_t, "u32"),
    BIT_SHIFT(uint64_t, "u64"),

    INTEGERS(BITWISE, BitwiseAnd, "bitwise_and"),

    INTEGERS(UNARY, BitwiseNot, "bitwise_not", "unary.cc"),

    INTEGERS(BITWISE, BitwiseOr, "bitwise_or"),

    INTEGERS(BITWISE, BitwiseXor, "bitwise_xor"),

    ALL_NUMBERS(WINDOW, BlackmanWindow, "blackman_window"),

    CASTS(float, "f32"),
    CASTS(double, "f64"),
    CASTS(Float16, "f16"),
    CASTS(BFloat16, "bf16"),
    CASTS(int8_t, "i8"),
    CASTS(int16_t, "i16"),
    CASTS(int32_t, "i32"),
    CASTS(int64_t, "i64"),
    CASTS(uint8_t, "u8"),
    CASTS(uint16_t, "u16"),
    CASTS(uint32_t, "u32"),
    CASTS(uint64_t, "u64"),
    CASTS(bool, "bool"),
    ALL_SMALL_CASTS(Cast, "cast"),

    CASTS_LIKE(float, "f32"),
    CASTS_LIKE(double, "f64"),
    CASTS_LIKE(Float16, "f16"),
    CASTS_LIKE(BFloat16, "bf16"),
    CASTS_LIKE(int8_t, "i8"),
    CASTS_LIKE(int16_t, "i16"),
    CASTS_LIKE(int32_t, "i32"),
    CASTS_LIKE(int64_t, "i64"),
    CASTS_LIKE(uint8_t, "u8"),
    CASTS_LIKE(uint16_t, "u16"),
    CASTS_LIKE(uint32_t, "u32"),
    CASTS_LIKE(uint64_t, "u64"),
    CASTS_LIKE(bool, "bool"),
    ALL_SMALL_CASTS(CastLike, "cast_like"),

    CAUSAL_CONV(float, "f32"),
    CAUSAL_CONV(Float16, "f16"),
    CAUSAL_CONV(BFloat16, "bf16"),

    ALL_FLOATS(UNARY, Ceil, "ceil", "rounding.cc"),

    ALL_FLOATS(UNARY, Celu, "celu", "activations.cc"),

    BYTES(COPY_LIKE, CenterCropPad, "center_crop_pad", "center_crop_pad.cc"),

    ALL_NUMBERS(CLIP),

    ALL_FLOATS(COL2IM),

    BYTES(COMPRESS),

    BYTES(COPY_AT_COST, Concat, "concat", "concat.cc"),

    BYTES(CONSTANT_OF_SHAPE),

#if TENSORD_HAVE_ONEDNN
    ONEDNN_FACTORS(
        Conv, "conv_f32_onednn_1x1", ConvPointwise,
        .caps = {.takes_epilogue = true, .takes_channels_last = true}),
    ONEDNN_FACTORS(
        Conv, "conv_f32_onednn", Conv,
        .caps = {.takes_epilogue = true, .takes_channels_last = true}),
#endif
    KERNEL(Conv, "conv_f32_1x1", All(DType::kFloat32), "conv.cc",
           .accepts = &AcceptsConv1x1, .workspace_bytes = &ConvWorkspaceBytes,
           .prepare = &PrepareConv, .cost = &ConvCost, .run = &RunConv1x1,
           .caps = {.takes_epilogue = true}),
    KERNEL(Conv, "conv_f32_im2col", All(DType::kFloat32), "conv.cc",
           .accepts = &AcceptsConvIm2col,
           .workspace_bytes = &ConvWorkspaceBytes, .prepare = &PrepareConv,
           .cost = &ConvCost, .run = &RunConvIm2col,
           .caps = {.takes_epilogue = true}),
    KERNEL(Conv, "conv_f32_direct", All(DType::kFloat32), "conv.cc",
           .accepts = &AcceptsConvDirect, .prepare = &PrepareEpilogue,
           .cost = &ConvCost, .run = &RunConvDirect<float>,
           .caps = {.takes_epilogue = true}),
    KERNEL(Conv, "conv_f64_direct", All(DType::kFloat64), "conv.cc",
           .accepts = &AcceptsConvDirect, .prepare = &PrepareEpilogue,
           .cost = &ConvCost, .run = &RunConvDirect<double>,
           .caps = {.takes_epilogue = true}),
    KERNEL(Conv, "conv_f16_direct", All(DType::kFloat16), "conv_half.cc",
           .accepts = &AcceptsConvHalf, .prepare = &PrepareEpilogue,
           .cost = &ConvCost, .run = &RunConvHalf<Float16>,
           .caps = {.takes_epilogue = true}),
    KERNEL(Conv, "conv_bf16_direct", All(DType::kBFloat16), "conv_half.cc",
           .accepts = &AcceptsConvHalf, .prepare = &PrepareEpilogue,
           .cost = &ConvCost, .run = &RunConvHalf<BFloat16>,
           .caps = {.takes_epilogue = true}),
    ALL_FLOATS(CONV_CHANNELS_LAST),

#if TENSORD_HAVE_ONEDNN
    BYTE_PAIRS(ONEDNN_CONV_INTEGER),
#endif
    BYTE_PAIRS(CONV_INTEGER),

    KERNEL(ConvTranspose, "conv_transpose_f32_col2im", All(DType::kFloat32),
           "conv_transpose.cc", .accepts = &AcceptsConvTransposeCol2im,
           .workspace_bytes = &ConvTransposeWorkspaceBytes,
           .prepare = &PrepareConvTranspose, .cost = &ConvTransposeCost,
           .run = &RunConvTransposeCol2im, .caps = {.takes_epilogue = true}),
    ALL_FLOATS(CONV_TRANSPOSE),

    ALL_FLOATS(UNARY, Cos, "cos", "trigonometry.cc"),

    ALL_FLOATS(UNARY, Cosh, "cosh", "trigonometry.cc"),

    CUMULATIVE_NUMBERS(CumProd, "cumprod", int32_t, "i32"),
    CUMULATIVE_NUMBERS(CumProd, "cumprod", int64_t, "i64"),

    CUMULATIVE_NUMBERS(CumSum, "cumsum", int32_t, "i32"),
    CUMULATIVE_NUMBERS(CumSum, "cumsum", int64_t, "i64"),

    ALL_FLOATS(DFT),

    ALL_FLOATS(DEFORM_CONV),

    BYTES(COPY, DepthToSpace, "depth_to_space", "depth_space.cc"),

    DEQUANTIZE(int8_t, "i8"),
    DEQUANTIZE(uint8_t, "u8"),
    DEQUANTIZE(int16_t, "i16"),
    DEQUANTIZE(uint16_t, "u16"),
    DEQUANTIZE(int32_t, "i32"),
    DEQUANTIZE_SMALL(float, "f32"),
    HALVES(DEQUANTIZE_SMALL),

    ALL_FLOATS(DET),

    ALL_NUMBERS(BINARY, Div, "div", "binary.cc"),

    DROPOUT(kFloat32, 4, "f32"),
    DROPOUT(kFloat64, 8, "f64"),
    DROPOUT(kFloat16, 2, "f16"),
    DROPOUT(kBFloat16, 2, "bf16"),

    KERNEL(DynamicQuantizeLinear, "dynamic_quantize_linear_f32",
           Takes({DType::kFloat32},
                 {DType::kUInt8, DType::kFloat32, DType::kUInt8}),
           "dynamic_quantize_linear.cc", .run = &RunDynamicQuantizeLinear),

    ALL_NUMBERS(EINSUM),

    ALL_FLOATS(UNARY, Elu, "elu", "activations.cc"),

    ALL_FLOATS(COMPARISON, Equal, "equal"),
    INTEGERS(EQUAL_BITS),
    COMPARISON_AS(bool, "bool", uint8_t, Equal, "equal"),

    STEP(Erf, "erf", 0b1),
    ALL_FLOATS(UNARY, Erf, "erf", "unary.cc"),

    STEP(Exp, "exp", 0b1),
    ALL_FLOATS(UNARY, Exp, "exp", "unary.cc"),

    BYTES(COPY_BY, Expand, "expand", "expand.cc"),

    ALL_NUMBERS(EYE_LIKE),
    EYE_LIKE(bool, "bool"),

    ALL_FLOATS(UNARY, Floor, "floor", "rounding.cc"),

    ALL_FLOATS(RECURRENT, GRU, Gru, "gru"),

    BYTES(GATHER, int32_t, "i32"),
    BYTES(GATHER, int64_t, "i64"),

    BYTES(GATHER_ELEMENTS, int32_t, "i32"),
    BYTES(GATHER_ELEMENTS, int64_t, "i64"),

    BYTES(COPY_BY, GatherND, "gather_nd", "gather_nd.cc"),

    STEP(Gelu, "gelu", 0b1),
    ALL_FLOATS(UNARY, Gelu, "gelu", "activations.cc"),

#if TENSORD_HAVE_ONEDNN
    ONEDNN_FACTORS(Gemm, "gemm_f32_onednn", Gemm,
                   .caps = {.takes_epilogue = true}),
#endif
    KERNEL(Gemm, "gemm_f32_few_rows", All(DType::kFloat32), "gemm.cc",
           .accepts = &AcceptsGemmFewRows, .prepare = &PrepareEpilogue,
           .cost = &GemmCost, .run = &RunGemmFewRows,
           .caps = {.takes_epilogue = true}),
    KERNEL(Gemm, "gemm_f32_blocked", All(DType::kFloat32), "gemm.cc",
           .accepts = &AcceptsGemm, .prepare = &PrepareEpilogue,
           .cost = &GemmCost, .run = &RunGemmBlocked<float>,
           .caps = {.takes_epilogue = true}),
    HALVES(GEMM_HALF),
    ALL_FLOATS(GEMM_ANY),
    WIDE_INTEGERS(GEMM_ANY),

    ALL_FLOATS(GLOBAL_POOL, GlobalAveragePool, "global_average_pool"),
    ALL_FLOATS(GLOBAL_POOL_CHANNELS_LAST, GlobalAveragePool,
               "global_average_pool"),

    ALL_FLOATS(GLOBAL_POOL, GlobalLpPool, "global_lp_pool"),

    ALL_FLOATS(GLOBAL_POOL, GlobalMaxPool, "global_max_pool"),
    ALL_FLOATS(GLOBAL_POOL_CHANNELS_LAST, GlobalMaxPool, "global_max_pool"),

    ALL_NUMBERS(COMPARISON, Greater, "greater"),

    ALL_NUMBERS(COMPARISON, GreaterOrEqual, "greater_or_equal"),

    ALL_FLOATS(GRID_SAMPLE, float, "f32"),
    ALL_FLOATS(GRID_SAMPLE, double, "f64"),
    ALL_FLOATS(GRID_SAMPLE, Float16, "f16"),
    ALL_FLOATS(GRID_SAMPLE, BFloat16, "bf16"),

    ALL_FLOATS(GROUP_NORMALIZATION, GroupNormalization, "group_normalization"),

    ALL_NUMBERS(WINDOW, HammingWindow, "hamming_window"),

    ALL_NUMBERS(WINDOW, HannWindow, "hann_window"),

    STEP(HardSigmoid, "hard_sigmoid", 0b1),
    ALL_FLOATS(UNARY, HardSigmoid, "hard_sigmoid", "activations.cc"),

    STEP(HardSwish, "hard_swish", 0b1),
    ALL_FLOATS(UNARY, HardSwish, "hard_swish", "activations.cc"),

    ALL_FLOATS(HARDMAX),

    KERNEL(Identity, "identity_bytes", AnyDTypes(), "identity.cc",
           .accepts = &AcceptsIdentity, .run = &RunIdentity,
           .caps = {.in_place_inputs = 0b1}),

    ALL_FLOATS(GROUP_NORMALIZATION, InstanceNormalization,
               "instance_normalization"),

    ALL_FLOATS(CLASSIFICATION, IsInf, "is_inf"),
    CLASSIFICATION_FLOAT8(IsInf, "is_inf"),

    ALL_FLOATS(CLASSIFICATION, IsNaN, "is_nan"),
    CLASSIFICATION_FLOAT8(IsNaN, "is_nan"),

    ALL_FLOATS(LRN),

    ALL_FLOATS(RECURRENT, LSTM, Lstm, "lstm"),

    ALL_FLOATS(LAYER_NORMALIZATION, float, ""),
    ALL_FLOATS(LAYER_NORMALIZATION, BFloat16, "_statistics_bf16"),

    STEP(LeakyRelu, "leaky_relu", 0b1),
    ALL_FLOATS(UNARY, LeakyRelu, "leaky_relu", "activations.cc"),

    ALL_NUMBERS(COMPARISON, Less, "less"),

    ALL_NUMBERS(COMPARISON, LessOrEqual, "less_or_equal"),

    LINEAR_ATTENTIONS(float, "f32"),
    LINEAR_ATTENTIONS(Float16, "f16"),
    LINEAR_ATTENTIONS(BFloat16, "bf16"),

    ALL_FLOATS(UNARY, Log, "log", "unary.cc"),

    ALL_FLOATS(SOFTMAX_ROWS, LogSoftmax, "log_softmax"),
    ALL_FLOATS(SOFTMAX_STRIPS, LogSoftmax, "log_softmax"),

    ALL_FLOATS(LP_NORMALIZATION),

    ALL_FLOATS(POOL, LpPool, "lp_pool"),

#if TENSORD_HAVE_ONEDNN
    ONEDNN_FACTORS(MatMul, "matmul_f32_onednn", MatMul,
                   .caps = {.takes_epilogue = true}),
#endif
    KERNEL(MatMul, "matmul_f32_few_rows", All(DType::kFloat32), "matmul.cc",
           .accepts = &AcceptsMatMulFewRows, .prepare = &PrepareEpilogue,
           .cost = &MatMulCost, .run = &RunMatMulFewRows,
           .caps = {.takes_epilogue = true}),
    KERNEL(MatMul, "matmul_f32_blocked", All(DType::kFloat32), "matmul.cc",
           .accepts = &AcceptsMatMul, .prepare = &PrepareEpilogue,
           .cost = &MatMulCost, .run = &RunMatMulBlocked<float>,
           .caps = {.takes_epilogue = true}),
    HALVES(MATMUL_HALF),
    ALL_FLOATS(MATMUL_ANY),
    WIDE_INTEGERS(MATMUL_ANY),

#if TENSORD_HAVE_ONEDNN
    BYTE_PAIRS(ONEDNN_MATMUL_INTEGER),
#endif
    BYTE_PAIRS(MATMUL_INTEGER),

    ALL_NUMBERS(VARIADIC, Max, "max"),

    ALL_FLOATS(POOL, MaxPool, "max_pool"),
    ALL_FLOATS(POOL_CHANNELS_LAST, MaxPool, "max_pool"),
    POOL(int8_t, "i8", MaxPool, "max_pool"),
    POOL(uint8_t, "u8", MaxPool, "max_pool"),
    POOL_CHANNELS_LAST(int8_t, "i8", MaxPool, "max_pool"),
    POOL_CHANNELS_LAST(uint8_t, "u8", MaxPool, "max_pool"),
    ALL_FLOATS(MAX_POOL_INDICES),
    MAX_POOL_INDICES(int8_t, "i8"),
    MAX_POOL_INDICES(uint8_t, "u8"),

    MAX_UNPOOL(kFloat32, 4, "f32"),
    MAX_UNPOOL(kFloat64, 8, "f64"),
    MAX_UNPOOL(kFloat16, 2, "f16"),
    MAX_UNPOOL(kBFloat16, 2, "bf16"),

    ALL_FLOATS(VARIADIC, Mean, "mean"),

    ALL_FLOATS(MEAN_VARIANCE),

    ALL_NUMBERS(MEL_WEIGHT_MATRIX),

    ALL_NUMBERS(VARIADIC, Min, "min"),

    STEP(Mish, "mish", 0b1),
    ALL_FLOATS(UNARY, Mish, "mish", "activations.cc"),

    ALL_NUMBERS(BINARY, Mod, "mod", "mod.cc"),

    OPTIMIZERS(Momentum, "momentum"),

    ALL_NUMBERS(BINARY, Mul, "mul", "binary.cc"),

    ALL_FLOATS(MULTINOMIAL, int32_t, "i32"),
    ALL_FLOATS(MULTINOMIAL, int64_t, "i64"),

    ALL_SIGNED(UNARY, Neg, "neg", "unary.cc"),

    ALL_FLOATS(LOSS, NegativeLogLikelihoodLoss, "negative_log_likelihood_loss",
               int32_t, "i32"),
    ALL_FLOATS(LOSS, NegativeLogLikelihoodLoss, "negative_log_likelihood_loss",
               int64_t, "i64"),

    KERNEL(NonMaxSuppression, "non_max_suppression_f32",
           Takes({DType::kFloat32, DType::kFloat32, DType::kInt64,
                  DType::kFloat32},
                 {DType::kInt64}),
           "non_max_suppression.cc",
           .workspace_bytes = &NonMaxSuppressionWorkspaceBytes,
           .run = &RunNonMaxSuppression),

    ALL_NUMBERS(NONZERO),
    NONZERO(bool, "bool"),

    KERNEL(Not, "not_bool", All(DType::kBool), "unary.cc", .run = &RunNot,
           .caps = {.in_place_inputs = 0b1}),

    BYTES(ONE_HOT, int32_t, "i32"),
    BYTES(ONE_HOT, int64_t, "i64"),
    BYTES(ONE_HOT, float, "f32"),
    BYTES(ONE_HOT, Float16, "f16"),

    LOGIC(Or, "or"),

    STEP(PRelu, "prelu", 0b11),
    ALL_FLOATS(BINARY, PRelu, "prelu", "prelu.cc"),
    BINARY(int32_t, "i32", PRelu, "prelu", "prelu.cc"),
    BINARY(int64_t, "i64", PRelu, "prelu", "prelu.cc"),
    BINARY(uint32_t, "u32", PRelu, "prelu", "prelu.cc"),
    BINARY(uint64_t, "u64", PRelu, "prelu", "prelu.cc"),

    BYTES(PAD, kInt64, ""),
    BYTES(PAD, kInt32, "_axes_i32"),

    POWS(float, "f32"),
    POWS(double, "f64"),
    POWS(Float16, "f16"),
    POWS(BFloat16, "bf16"),
    POWS(int32_t, "i32"),
    POWS(int64_t, "i64"),

#if TENSORD_HAVE_ONEDNN
    BYTE_PAIRS(ONEDNN_QLINEAR_CONV),
#endif
    BYTE_PAIRS(QLINEAR_CONV),

#if TENSORD_HAVE_ONEDNN
    BYTE_PAIRS(ONEDNN_QLINEAR_MATMUL),
#endif
    BYTE_PAIRS(QLINEAR_MATMUL),

    QUANTIZE(float, "f32"),
    QUANTIZE(Float16, "f16"),
    QUANTIZE(BFloat16, "bf16"),
    QUANTIZE(int32_t, "i32"),
    QUANTIZE_SMALL(float, "f32"),
    QUANTIZE_SMALL(Float16, "f16"),
    QUANTIZE_SMALL(BFloat16, "bf16"),
    QUANTIZE_SMALL(int32_t, "i32"),

    ALL_FLOATS(RMS_NORMALIZATION, float, "f32"),
    ALL_FLOATS(RMS_NORMALIZATION, double, "f64"),
    ALL_FLOATS(RMS_NORMALIZATION, Float16, "f16"),
    ALL_FLOATS(RMS_NORMALIZATION, BFloat16, "bf16"),

    ALL_FLOATS(RECURRENT, RNN, Rnn, "rnn"),

    ALL_FLOATS(RANDOM, RandomNormal, "random_normal", RunRandomNormal),

    ALL_FLOATS(RANDOM, RandomNormalLike, "random_normal_like", RunRandomNormal),

    ALL_FLOATS(RANDOM, RandomUniform, "random_uniform", RunRandomUniform),

    ALL_FLOATS(RANDOM, RandomUniformLike, "random_uniform_like",
               RunRandomUniform),

    RANGE(float, "f32"),
    RANGE(double, "f64"),
    HALVES(RANGE),
    RANGE(int16_t, "i16"),
    RANGE(int32_t, "i32"),
    RANGE(int64_t, "i64"),

    ALL_FLOATS(UNARY, Reciprocal, "reciprocal", "unary.cc"),

    REDUCE_ARITHMETIC(ReduceL1, "reduce_l1", "reduce_sum.cc"),
    REDUCE_ARITHMETIC(ReduceL2, "reduce_l2", "reduce_sum.cc"),
    REDUCE_ARITHMETIC(ReduceLogSum, "reduce_log_sum", "reduce_log.cc"),
    REDUCE_ARITHMETIC(ReduceLogSumExp, "reduce_log_sum_exp", "reduce_log.cc"),
    REDUCE_ORDERED(ReduceMax, "reduce_max", "reduce_extreme.cc"),
    REDUCE_ARITHMETIC(ReduceMean, "reduce_mean", "reduce_sum.cc"),
    REDUCE_ORDERED(ReduceMin, "reduce_min", "reduce_extreme.cc"),
    REDUCE_ARITHMETIC(ReduceProd, "reduce_prod", "reduce_sum.cc"),
    REDUCE_ARITHMETIC(ReduceSum, "reduce_sum", "reduce_sum.cc"),
    REDUCE_ARITHMETIC(ReduceSumSquare, "reduce_sum_square", "reduce_sum.cc"),

    ALL_SIGNED(UNARY, Relu, "relu", "activations.cc"),

    RESIZE(Resize, "resize"),

    BYTES(COPY_BY, ReverseSequence, "reverse_sequence", "reverse_sequence.cc"),

    ROTARY_EMBEDDING(float, "f32"),
    ROTARY_EMBEDDING(Float16, "f16"),
    ROTARY_EMBEDDING(BFloat16, "bf16"),

    ALL_FLOATS(ROI_ALIGN),

    ALL_FLOATS(UNARY, Round, "round", "rounding.cc"),

    ALL_FLOATS(STFT),

    BYTES(SCATTER, Scatter, "scatter", int32_t, "i32"),
    BYTES(SCATTER, Scatter, "scatter", int64_t, "i64"),

    BYTES(SCATTER, ScatterElements, "scatter_elements", int32_t, "i32"),
    BYTES(SCATTER, ScatterElements, "scatter_elements", int64_t, "i64"),
    ALL_NUMBERS(SCATTER_REDUCE, ScatterElements, "scatter_elements", int32_t,
                "i32"),
    ALL_NUMBERS(SCATTER_REDUCE, ScatterElements, "scatter_elements", int64_t,
                "i64"),

    BYTES(SCATTER_ND),
    ALL_NUMBERS(SCATTER_ND_REDUCE),

    ALL_FLOATS(UNARY, Selu, "selu", "activations.cc"),

    KERNEL(Shape, "shape_any", AnyDTypes(), "shape.cc", .run = &RunShape),

    STEP(Sigmoid, "sigmoid", 0b1),
    ALL_FLOATS(UNARY, Sigmoid, "sigmoid", "activations.cc"),

    ALL_NUMBERS(UNARY, Sign, "sign", "rounding.cc"),

    ALL_FLOATS(UNARY, Sin, "sin", "trigonometry.cc"),

    ALL_FLOATS(UNARY, Sinh, "sinh", "trigonometry.cc"),

    KERNEL(Size, "size_any", AnyDTypes(), "size.cc", .run = &RunSize),

    BYTES(SLICE, int32_t, "i32"),
    BYTES(SLICE, int64_t, "i64"),

    ALL_FLOATS(SOFTMAX_ROWS, Softmax, "softmax"),
    ALL_FLOATS(SOFTMAX_STRIPS, Softmax, "softmax"),

    ALL_FLOATS(LOSS, SoftmaxCrossEntropyLoss, "softmax_cross_entropy_loss",
               int32_t, "i32"),
    ALL_FLOATS(LOSS, SoftmaxCrossEntropyLoss, "softmax_cross_entropy_loss",
               int64_t, "i64"),

    ALL_FLOATS(UNARY, Softplus, "softplus", "activations.cc"),

    ALL_FLOATS(UNARY, Softsign, "softsign", "activations.cc"),

    BYTES(COPY, SpaceToDepth, "space_to_depth", "depth_space.cc"),

    BYTES(COPY_BY, Split, "split", "split.cc"),

    ALL_FLOATS(UNARY, Sqrt, "sqrt", "unary.cc"),

    ALL_NUMBERS(BINARY, Sub, "sub", "binary.cc"),

    ALL_FLOATS(VARIADIC, Sum, "sum"),

    STEP(Swish, "swish", 0b1),
    ALL_FLOATS(UNARY, Swish, "swish", "activations.cc"),

    ALL_FLOATS(UNARY, Tan, "tan", "trigonometry.cc"),

    STEP(Tanh, "tanh", 0b1),
    ALL_FLOATS(UNARY, Tanh, "tanh", "trigonometry.cc"),

    BYTES(TENSOR_SCATTER),

    ALL_FLOATS(UNARY, ThresholdedRelu, "thresholded_relu", "activations.cc"),

    BYTES(COPY_BY, Tile, "tile", "tile.cc"),

    ALL_NUMBERS(TOP_K),

    BYTES(COPY_AT_COST, Transpose, "transpose", "transpose.cc"),

    BYTES(TRILU),

    NUMBERS(UNIQUE),
    UNIQUE(Float16, "f16"),
    UNIQUE_AS(bool, uint8_t, "bool"),

    RESIZE(Upsample, "upsample"),

    BYTES(WHERE),
    WHERE(kComplex64, 8, "c64"),
    WHERE(kComplex128, 16, "c128"),

    LOGIC(Xor, "xor"),

    ALL_FLOATS(ELEMENTWISE_CHAIN),
    ELEMENTWISE_CHAIN(int8_t, "i8"),
    ELEMENTWISE_CHAIN(uint8_t, "u8"),
};

}  // namespace

absl::Span<const KernelEntry> CpuKernels() { return kCpuKernels; }

}  // namespace tensord
