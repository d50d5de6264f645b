#include "engine/passes/quantized_value.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/passes/node_query.h"

namespace tensord {
namespace {

constexpr int kScale = 1;
constexpr int kZeroPoint = 2;

bool IsByte(DType dtype) {
  return dtype == DType::kInt8 || dtype == DType::kUInt8;
}

template <typename T>
std::vector<int32_t> Widened(const HostTensor& tensor) {
  const auto values = tensor.values<T>();
  return {values.begin(), values.end()};
}

// Computed in float32, without blocks or wrapping around.
bool IsPlain(const GraphEditor& graph, const Node& node) {
  const auto& params = std::get<QuantizeParams>(node.params);
  const auto is_float = [](DType dtype) {
    return dtype == DType::kUndefined || dtype == DType::kFloat32;
  };
  const bool quantizes = node.op == OpKind::kQuantizeLinear;
  return params.block_size == 0 && params.saturates &&
         is_float(params.precision) &&
         (quantizes || is_float(params.output_dtype)) &&
         graph.type(node.inputs[kScale]).dtype == DType::kFloat32;
}

ValueId ZeroPointOf(const Node& node) {
  return node.inputs.size() > kZeroPoint ? node.inputs[kZeroPoint] : kNoValue;
}

// Scales that are known, in a vector, finite and above 0.
std::optional<std::vector<float>> ScalesOf(const GraphEditor& graph,
                                           const Node& node) {
  const HostTensor& tensor = graph.constant(node.inputs[kScale]);
  if (!tensor.is_present() || tensor.dtype() != DType::kFloat32 ||
      tensor.shape().rank() > 1 || tensor.shape().element_count() == 0) {
    return std::nullopt;
  }
  const auto values = tensor.values<float>();
  const bool make_sense = std::all_of(
      values.begin(), values.end(),
      [](float scale) { return scale > 0 && std::isfinite(scale); });
  if (!make_sense) return std::nullopt;
  return std::vector<float>(values.begin(), values.end());
}

// As many as there are scales, or none where the node has none.
std::optional<std::vector<int32_t>> ZeroPointsOf(const GraphEditor& graph,
                                                 const Node& node,
                                                 size_t count) {
  const ValueId value = ZeroPointOf(node);
  if (value == kNoValue) return std::vector<int32_t>();
  auto zero_points = KnownIntegers(graph, value);
  if (!zero_points.has_value() || zero_points->size() != count) {
    return std::nullopt;
  }
  return zero_points;
}

}  // namespace

int32_t Quantization::IntegerOf(double number) const {
  const double low = least() - zero_point;
  const double high = most() - zero_point;
  const double scaled = std::clamp(number / scale, low, high);
  return static_cast<int32_t>(std::nearbyint(scaled)) + zero_point;
}

std::optional<std::vector<int32_t>> KnownIntegers(const GraphEditor& graph,
                                                  ValueId value) {
  const HostTensor& tensor = graph.constant(value);
  switch (tensor.dtype()) {
    case DType::kInt8:
      return Widened<int8_t>(tensor);
    case DType::kUInt8:
      return Widened<uint8_t>(tensor);
    case DType::kInt32:
      return Widened<int32_t>(tensor);
    default:
      return std::nullopt;
  }
}

std::optional<Quantization> QuantizationOf(const GraphEditor& graph,
                                           const Node& node) {
  if (!IsPlain(graph, node)) return std::nullopt;
  const bool quantizes = node.op == OpKind::kQuantizeLinear;
  const ValueId integers = quantizes ? node.outputs[0] : node.inputs[0];
  const ValueId numbers = quantizes ? node.inputs[0] : node.outputs[0];
  if (!IsByte(graph.type(integers).dtype) ||
      graph.type(numbers).dtype != DType::kFloat32) {
    return std::nullopt;
  }
  const auto scales = ScalesOf(graph, node);
  if (!scales.has_value() || scales->size() != 1) return std::nullopt;
  const auto zero_points = ZeroPointsOf(graph, node, 1);
  if (!zero_points.has_value()) return std::nullopt;
  return Quantization{
      .dtype = graph.type(integers).dtype,
      .scale = scales->front(),
      .zero_point = zero_points->empty() ? 0 : zero_points->front(),
      .scale_value = node.inputs[kScale],
      .zero_point_value = ZeroPointOf(node)};
}

std::optional<QuantizedValue> QuantizedValueOf(const GraphEditor& graph,
                                               ValueId value) {
  const Node* node = MadeBy(graph, value, OpKind::kDequantizeLinear);
  if (node == nullptr) return std::nullopt;
  const auto quantization = QuantizationOf(graph, *node);
  if (!quantization.has_value()) return std::nullopt;
  return QuantizedValue{node->inputs[0], graph.producer(value), *quantization};
}

std::optional<ScaledLines> ScaledLinesOf(const GraphEditor& graph,
                                         ValueId value, int dimension) {
  const Node* node = MadeBy(graph, value, OpKind::kDequantizeLinear);
  if (node == nullptr || !IsPlain(graph, *node) ||
      graph.type(value).dtype != DType::kFloat32) {
    return std::nullopt;
  }
  auto scales = ScalesOf(graph, *node);
  if (!scales.has_value()) return std::nullopt;
  if (scales->size() != 1) {
    const auto rank = static_cast<int64_t>(graph.type(value).shape->size());
    int64_t axis = std::get<QuantizeParams>(node->params).axis;
    if (axis < 0) axis += rank;
    if (axis != (dimension < 0 ? dimension + rank : dimension)) {
      return std::nullopt;
    }
  }
  auto zero_points = ZeroPointsOf(graph, *node, scales->size());
  if (!zero_points.has_value()) return std::nullopt;
  return ScaledLines{node->inputs[0],      graph.producer(value),
                     node->inputs[kScale], ZeroPointOf(*node),
                     *std::move(scales),   *std::move(zero_points)};
}

ValueId AddZeroPoint(GraphEditor& graph, DType dtype, ValueId origin) {
  return graph.AddConstant(
      HostTensor::Make(dtype, Shape({}),
                       [](absl::Span<std::byte> bytes) {
                         std::fill(bytes.begin(), bytes.end(), std::byte{0});
                       }),
      origin);
}

}  // namespace tensord
