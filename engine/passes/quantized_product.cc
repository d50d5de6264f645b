#include "engine/passes/quantized_product.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/passes/channel_affine.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

class ProductBuilder {
 public:
  ProductBuilder(GraphEditor& graph, NodeId anchor, const Quantization& to)
      : graph_(graph), anchor_(graph.node(anchor)), to_(to) {}

  std::optional<QuantizedProduct> Conv() {
    constexpr int kX = 0, kW = 1;
    const auto x = QuantizedValueOf(graph_, anchor_.inputs[kX]);
    const auto w = ScaledLinesOf(graph_, anchor_.inputs[kW], 0);
    if (!x.has_value() || !w.has_value() || !IsByte(*w) ||
        !graph_.constant(w->integers).is_present()) {
      return std::nullopt;
    }
    dequantizers_ = {x->node, w->node};
    const std::optional<ValueId> bias = Bias(*x, *w);
    if (!bias.has_value()) return std::nullopt;
    std::vector<ValueId> inputs = Operands(*x, *w);
    if (*bias != kNoValue) inputs.push_back(*bias);
    return Made(OpKind::kQLinearConv, anchor_.params, std::move(inputs));
  }

  std::optional<QuantizedProduct> MatMul() {
    const auto a = QuantizedValueOf(graph_, anchor_.inputs[0]);
    const auto b = ScaledLinesOf(graph_, anchor_.inputs[1], -1);
    if (!a.has_value() || !b.has_value() || !IsByte(*b) ||
        (b->scales.size() != 1 && graph_.type(b->integers).shape->size() < 2)) {
      return std::nullopt;
    }
    dequantizers_ = {a->node, b->node};
    return Made(OpKind::kQLinearMatMul, NoParams(), Operands(*a, *b));
  }

 private:
  bool IsByte(const ScaledLines& lines) const {
    const DType dtype = graph_.type(lines.integers).dtype;
    return dtype == DType::kInt8 || dtype == DType::kUInt8;
  }

  ValueId ZeroPoint(ValueId given, ValueId integers, DType dtype) {
    return given != kNoValue ? given : AddZeroPoint(graph_, dtype, integers);
  }

  std::vector<ValueId> Operands(const QuantizedValue& x, const ScaledLines& w) {
    return {x.integers,
            x.quantization.scale_value,
            ZeroPoint(x.quantization.zero_point_value, x.integers,
                      x.quantization.dtype),
            w.integers,
            w.scale_value,
            ZeroPoint(w.zero_point_value, w.integers,
                      graph_.type(w.integers).dtype),
            to_.scale_value,
            ZeroPoint(to_.zero_point_value, to_.scale_value, to_.dtype)};
  }

  std::optional<QuantizedProduct> Made(OpKind op, OpParams params,
                                       std::vector<ValueId> inputs) {
    return QuantizedProduct{
        MakeNode(anchor_, op, std::move(params), std::move(inputs), {}),
        std::move(dequantizers_)};
  }

  // The Conv's bias in integers of the sum's scale; kNoValue where it has none.
  std::optional<ValueId> Bias(const QuantizedValue& x, const ScaledLines& w) {
    constexpr size_t kBias = 2;
    const ValueId value =
        anchor_.inputs.size() > kBias ? anchor_.inputs[kBias] : kNoValue;
    if (value == kNoValue) return kNoValue;
    const auto numbers = BiasNumbers(value);
    if (!numbers.has_value()) return std::nullopt;
    std::vector<int32_t> integers;
    for (size_t m = 0; m < numbers->size(); ++m) {
      const double unit = double{x.quantization.scale} * w.scale(m);
      const double scaled = (*numbers)[m] / unit;
      const double rounded = std::nearbyint(scaled);
      // An integer of a product that counts for several steps of the result
      // must be the bias, all but for rounding in its own scale.
      constexpr double kAlmost = 1e-3;
      if (!(std::abs(rounded) <= std::numeric_limits<int32_t>::max()) ||
          (unit > to_.scale && std::abs(scaled - rounded) > kAlmost)) {
        return std::nullopt;
      }
      integers.push_back(static_cast<int32_t>(rounded));
    }
    return graph_.AddConstant(
        HostTensor::Make(
            DType::kInt32, Shape({static_cast<int64_t>(integers.size())}),
            [&](absl::Span<std::byte> bytes) {
              if (bytes.empty()) return;
              std::memcpy(bytes.data(), integers.data(), bytes.size());
            }),
        value);
  }

  std::optional<std::vector<double>> BiasNumbers(ValueId value) {
    const auto lines = ScaledLinesOf(graph_, value, 0);
    if (!lines.has_value()) return KnownFloats(graph_, value);
    const auto integers = KnownIntegers(graph_, lines->integers);
    if (!integers.has_value()) return std::nullopt;
    dequantizers_.push_back(lines->node);
    std::vector<double> numbers;
    for (size_t m = 0; m < integers->size(); ++m) {
      numbers.push_back(
          (static_cast<double>((*integers)[m]) - lines->zero_point(m)) *
          lines->scale(m));
    }
    return numbers;
  }

  GraphEditor& graph_;
  const Node anchor_;  // a copy: constants are added meanwhile
  const Quantization to_;
  std::vector<NodeId> dequantizers_;
};

}  // namespace

std::optional<QuantizedProduct> QuantizedProductOf(GraphEditor& graph,
                                                   NodeId anchor,
                                                   const Quantization& to) {
  if (graph.node(anchor).params.epilogue != nullptr) return std::nullopt;
  switch (graph.node(anchor).op) {
    case OpKind::kConv:
      return ProductBuilder(graph, anchor, to).Conv();
    case OpKind::kMatMul:
      return ProductBuilder(graph, anchor, to).MatMul();
    default:
      return std::nullopt;
  }
}

}  // namespace tensord
