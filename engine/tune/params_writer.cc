#include "engine/tune/params_writer.h"

#include <optional>
#include <type_traits>
#include <variant>

namespace tensord {
namespace {

template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;

template <typename T>
concept Range = requires(const T& value) {
  value.begin();
  value.end();
  value.size();
};

// Names for the fields of a struct, as many as it has.
#define NAMES_1 a
#define NAMES_2 NAMES_1, b
#define NAMES_3 NAMES_2, c
#define NAMES_4 NAMES_3, d
#define NAMES_5 NAMES_4, e
#define NAMES_6 NAMES_5, f
#define NAMES_7 NAMES_6, g
#define NAMES_8 NAMES_7, h
#define NAMES_9 NAMES_8, i
#define NAMES_10 NAMES_9, j
#define NAMES_12 NAMES_10, k, l

// A struct's fields in order. Structured bindings take a struct apart only when
// the number is right, so a field that is added later cannot be forgotten here:
// the compiler refuses the old number.
#define FIELDS(count, Type)               \
  void AddFields(const Type& params) {    \
    const auto& [NAMES_##count] = params; \
    AddAll(NAMES_##count);                \
  }

class ParamsWriter {
 public:
  explicit ParamsWriter(std::string& out) : out_(out) {}

  void Write(const OpParams& params) {
    Add(params.index());
#define WRITE_IF(Type)                                   \
  if (const Type* fields = std::get_if<Type>(&params)) { \
    AddFields(*fields);                                  \
  }
    TENSORD_OP_PARAMS(WRITE_IF)
#undef WRITE_IF
    Add(params.epilogue != nullptr);
    if (params.epilogue != nullptr) AddFields(*params.epilogue);
  }

 private:
  template <typename T>
  void Add(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      out_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else if constexpr (kIsOptional<T>) {
      Add(value.has_value());
      if (value.has_value()) Add(*value);
    } else if constexpr (Range<T>) {
      Add(value.size());
      for (const auto& element : value) Add(element);
    } else {
      AddFields(value);
    }
  }
  template <typename... T>
  void AddAll(const T&... values) {
    (Add(values), ...);
  }

  FIELDS(9, ConvParams)
  FIELDS(10, PoolParams)
  FIELDS(1, BatchNormalizationParams)
  FIELDS(4, GemmParams)
  FIELDS(1, AxisParams)
  FIELDS(1, PadParams)
  FIELDS(1, ReshapeParams)
  FIELDS(1, TransposeParams)
  FIELDS(3, CastParams)
  FIELDS(2, SoftmaxParams)
  FIELDS(2, ShapeParams)
  FIELDS(1, AlphaParams)
  FIELDS(2, ReduceParams)
  FIELDS(3, ArgReduceParams)
  FIELDS(2, CumSumParams)
  FIELDS(1, TriluParams)
  FIELDS(2, SplitParams)
  FIELDS(2, FillParams)
  FIELDS(2, ScatterParams)
  FIELDS(1, GatherNdParams)
  FIELDS(2, BlockParams)
  FIELDS(5, ScanParams)
  FIELDS(3, SequenceParams)
  FIELDS(12, ResizeParams)
  FIELDS(2, TopKParams)
  FIELDS(2, EyeLikeParams)
  FIELDS(1, ReverseSequenceParams)
  FIELDS(1, OptionalAxisParams)
  FIELDS(2, UniqueParams)
  FIELDS(1, NonMaxSuppressionParams)
  FIELDS(1, AxesParams)
  FIELDS(3, Col2ImParams)
  FIELDS(2, HardSigmoidParams)
  FIELDS(2, SeluParams)
  FIELDS(1, GeluParams)
  FIELDS(2, IsInfParams)
  FIELDS(1, ModParams)
  FIELDS(1, BitShiftParams)
  FIELDS(6, NormalizationParams)
  FIELDS(4, LrnParams)
  FIELDS(2, LpNormalizationParams)
  FIELDS(3, RnnActivation)
  FIELDS(7, RnnParams)
  FIELDS(2, EinsumParams)
  FIELDS(5, QuantizeParams)
  FIELDS(10, AttentionParams)
  FIELDS(3, RotaryEmbeddingParams)
  FIELDS(3, GridSampleParams)
  FIELDS(6, RoiAlignParams)
  FIELDS(3, DftParams)
  FIELDS(2, WindowParams)
  FIELDS(2, DeformConvParams)
  FIELDS(1, AffineGridParams)
  FIELDS(2, TensorScatterParams)
  FIELDS(4, LinearAttentionParams)
  FIELDS(1, CausalConvParams)
  FIELDS(2, LossParams)
  FIELDS(7, OptimizerParams)
  FIELDS(8, RandomParams)
  FIELDS(3, ExpressionStep)
  FIELDS(3, Expression)
  FIELDS(2, Epilogue)

  std::string& out_;
};

}  // namespace

void AppendParams(const OpParams& params, std::string& out) {
  ParamsWriter(out).Write(params);
}

}  // namespace tensord
