#include "engine/passes/quantized_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/passes/channel_affine.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

class ProductBuilder {
 public:
  ProductBuilder(PassContext& context, NodeId anchor, const Quantization& to)
      : context_(context),
        graph_(context.graph),
        anchor_(graph_.node(anchor)),
        to_(to) {}

  std::optional<QuantizedProduct> Conv() {
    constexpr int kX = 0, kW = 1;
    const auto x = QuantizedValueOf(graph_, anchor_.inputs[kX]);
    const auto w = ScaledLinesOf(graph_, anchor_.inputs[kW], 0);
    if (!x.has_value() || !w.has_value() || !IsByte(*w) ||
        !graph_.constant(w->integers).is_present()) {
      return std::nullopt;
    }
    dequantizers_ = {x->node, w->node};
    const Shape weights = graph_.constant(w->integers).shape();
    const std::optional<ValueId> bias =
        Bias(*x, *w, weights[0], weights.ElementCount(1, weights.rank()));
    if (!bias.has_value()) return std::nullopt;
    std::vector<ValueId> inputs = Operands(*x, *w);
    if (*bias != kNoValue) inputs.push_back(*bias);
    return Made(OpKind::kQLinearConv, anchor_.params, std::move(inputs));
  }

  std::optional<QuantizedProduct> Gemm() {
    const auto& params = std::get<GemmParams>(anchor_.params);
    const auto x = QuantizedValueOf(graph_, anchor_.inputs[0]);
    const auto w =
        ScaledLinesOf(graph_, anchor_.inputs[1], params.transpose_b ? 0 : 1);
    if (params.transpose_a || params.alpha != 1 || params.beta != 1 ||
        !x.has_value() || !w.has_value() || !IsByte(*w) ||
        !graph_.constant(w->integers).is_present()) {
      return std::nullopt;
    }
    const std::optional<Shape> rows = graph_.shape(x->integers);
    if (!rows.has_value() || rows->element_count() == 0) return std::nullopt;
    dequantizers_ = {x->node, w->node};
    const auto weights = PixelWeights(w->integers, params.transpose_b);
    if (!weights.has_value()) return std::nullopt;
    // A copy: constants are added meanwhile.
    const Shape pixel = graph_.constant(*weights).shape();
    const std::optional<ValueId> bias = Bias(*x, *w, pixel[0], pixel[1]);
    if (!bias.has_value()) return std::nullopt;
    std::vector<ValueId> inputs = Operands(*x, *w);
    const Shape images({(*rows)[0], (*rows)[1], 1, 1});
    inputs[0] = graph_.AddValue({x->quantization.dtype, ToSymbolic(images)},
                                x->integers);
    inputs[3] = *weights;
    if (*bias != kNoValue) inputs.push_back(*bias);
    auto product = Made(OpKind::kQLinearConv, ConvParams(), std::move(inputs));
    product->views = {x->integers, images, Shape({(*rows)[0], pixel[0], 1, 1})};
    return product;
  }

  std::optional<QuantizedProduct> MatMul() {
    const auto a = QuantizedValueOf(graph_, anchor_.inputs[0]);
    const auto b = ScaledLinesOf(graph_, anchor_.inputs[1], -1);
    if (!a.has_value() || !b.has_value() || !IsByte(*b) ||
        (b->scales.size() != 1 && graph_.type(b->integers).shape->size() < 2)) {
      return std::nullopt;
    }
    const std::optional<Shape> shape = graph_.shape(b->integers);
    if (!shape.has_value()) return std::nullopt;
    const int64_t depth = (*shape)[std::max(shape->rank() - 2, 0)];
    if (RoomForBias(*a, *b, depth) < 0) return std::nullopt;
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
        std::move(dequantizers_), std::nullopt};
  }

  // A Gemm's weights as a convolution's [M, K, 1, 1], where the graph may hold
  // so much more.
  std::optional<ValueId> PixelWeights(ValueId value, bool is_transposed) {
    const HostTensor given = graph_.constant(value);
    const int64_t k = given.shape()[is_transposed ? 1 : 0];
    const int64_t m = given.shape()[is_transposed ? 0 : 1];
    if (given.shape().element_count() == 0) return std::nullopt;
    const Shape shape({m, k, 1, 1});
    if (is_transposed) {
      return graph_.AddConstant(given.Reshaped(shape), value);
    }
    if (!context_.Charge(given.size_bytes())) return std::nullopt;
    return graph_.AddConstant(
        context_.Remember(absl::StrCat("fuse_qdq b' ", DTypeName(given.dtype()),
                                       given.shape().ToString()),
                          {given},
                          [&] {
                            return HostTensor::Make(
                                given.dtype(), shape,
                                [&](absl::Span<std::byte> to) {
                                  for (int64_t i = 0; i < m * k; ++i) {
                                    to[i] = given.bytes()[i % k * m + i / k];
                                  }
                                });
                          }),
        value);
  }

  // The largest bias with which no sum of `depth` products leaves int32, where
  // the kernels' sums wrap around and float32 would not; below 0 for none.
  int64_t RoomForBias(const QuantizedValue& x, const ScaledLines& w,
                      int64_t depth) const {
    const auto largest = [](DType dtype, int32_t zero_point) -> int64_t {
      const Quantization range{.dtype = dtype};
      return std::max(zero_point - range.least(), range.most() - zero_point);
    };
    const DType dtype = graph_.type(w.integers).dtype;
    int64_t weight = largest(dtype, w.zero_point(0));
    for (int32_t zero_point : w.zero_points) {
      weight = std::max(weight, largest(dtype, zero_point));
    }
    const int64_t product =
        largest(x.quantization.dtype, x.quantization.zero_point) * weight;
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    return depth > kMost / product ? -1 : kMost - depth * product;
  }

  // The bias of so many channels in integers of the sum's scale; kNoValue where
  // the node has none. Nothing where sums may be too large.
  std::optional<ValueId> Bias(const QuantizedValue& x, const ScaledLines& w,
                              int64_t channels, int64_t depth) {
    constexpr size_t kBias = 2;
    const int64_t room = RoomForBias(x, w, depth);
    if (room < 0) return std::nullopt;
    const ValueId value =
        anchor_.inputs.size() > kBias ? anchor_.inputs[kBias] : kNoValue;
    if (value == kNoValue) return kNoValue;
    const std::optional<Shape> shape = graph_.shape(value);
    const auto numbers = BiasNumbers(value);
    // A Gemm's may be one of many kinds that broadcast.
    if (!numbers.has_value() || !shape.has_value() || shape->rank() != 1 ||
        static_cast<int64_t>(numbers->size()) != channels) {
      return std::nullopt;
    }
    std::vector<int32_t> integers;
    for (size_t m = 0; m < numbers->size(); ++m) {
      const double unit = double{x.quantization.scale} * w.scale(m);
      const double scaled = (*numbers)[m] / unit;
      const double rounded = std::nearbyint(scaled);
      // An integer of a product that counts for several steps of the result
      // must be the bias, all but for rounding in its own scale.
      constexpr double kAlmost = 1e-3;
      if (!(std::abs(rounded) <= static_cast<double>(room)) ||
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

  PassContext& context_;
  GraphEditor& graph_;
  const Node anchor_;  // a copy: constants are added meanwhile
  const Quantization to_;
  std::vector<NodeId> dequantizers_;
};

}  // namespace

std::optional<QuantizedProduct> QuantizedProductOf(PassContext& context,
                                                   NodeId anchor,
                                                   const Quantization& to) {
  const Node& node = context.graph.node(anchor);
  if (node.params.epilogue != nullptr) return std::nullopt;
  switch (node.op) {
    case OpKind::kConv:
      return ProductBuilder(context, anchor, to).Conv();
    case OpKind::kGemm:
      return ProductBuilder(context, anchor, to).Gemm();
    case OpKind::kMatMul:
      return ProductBuilder(context, anchor, to).MatMul();
    default:
      return std::nullopt;
  }
}

}  // namespace tensord
