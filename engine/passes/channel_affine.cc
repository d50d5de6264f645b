#include "engine/passes/channel_affine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "backends/api/float16.h"
#include "engine/passes/node_query.h"

namespace tensord {
namespace {

template <typename T>
std::vector<double> Numbers(const HostTensor& tensor) {
  const auto values = tensor.values<T>();
  return std::vector<double>(values.begin(), values.end());
}

template <typename T>
void Fill(const std::vector<double>& numbers, absl::Span<std::byte> bytes) {
  auto* to = reinterpret_cast<T*>(bytes.data());
  for (size_t i = 0; i < numbers.size(); ++i)
    to[i] = static_cast<T>(numbers[i]);
}

// The constant's number for each channel of x.
std::optional<std::vector<double>> PerChannel(const GraphEditor& graph,
                                              ValueId constant, ValueId x) {
  const auto& shape = graph.type(x).shape;
  if (!shape.has_value() || shape->size() < 2 || !(*shape)[1].is_known()) {
    return std::nullopt;
  }
  const int64_t channels = (*shape)[1].extent();
  const HostTensor& tensor = graph.constant(constant);
  if (!tensor.is_present()) return std::nullopt;
  const auto rank = static_cast<int>(shape->size());
  const int own_rank = tensor.shape().rank();
  if (own_rank > rank) return std::nullopt;
  for (int d = 0; d < own_rank; ++d) {
    const bool is_channel = d + rank - own_rank == 1;
    const int64_t extent = tensor.shape()[d];
    if (extent != 1 && !(is_channel && extent == channels)) return std::nullopt;
  }
  std::optional<std::vector<double>> numbers = KnownFloats(graph, constant);
  if (!numbers.has_value()) return std::nullopt;
  if (numbers->size() == 1) numbers->assign(channels, numbers->front());
  return numbers;
}

std::optional<ChannelAffine> OfBatchNormalization(const GraphEditor& graph,
                                                  const Node& node) {
  std::vector<double> parts[4];  // scale, bias, mean, variance
  for (int i = 0; i < 4; ++i) {
    auto numbers = KnownFloats(graph, node.inputs[i + 1]);
    if (!numbers.has_value()) return std::nullopt;
    parts[i] = *std::move(numbers);
  }
  const double epsilon =
      std::get<BatchNormalizationParams>(node.params).epsilon;
  ChannelAffine affine;
  for (size_t c = 0; c < parts[0].size(); ++c) {
    const double scale = parts[0][c] / std::sqrt(parts[3][c] + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back(parts[1][c] - parts[2][c] * scale);
  }
  return affine;
}

std::optional<ChannelAffine> OfArithmetic(const GraphEditor& graph,
                                          const Node& node, ValueId x) {
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) {
    return std::nullopt;
  }
  const bool is_left = node.inputs[0] == x;
  if (node.op == OpKind::kDiv && !is_left) return std::nullopt;
  auto numbers = PerChannel(graph, node.inputs[is_left ? 1 : 0], x);
  if (!numbers.has_value()) return std::nullopt;
  ChannelAffine affine;
  affine.scale.assign(numbers->size(), 1);
  affine.shift.assign(numbers->size(), 0);
  for (size_t c = 0; c < numbers->size(); ++c) {
    const double number = (*numbers)[c];
    switch (node.op) {
      case OpKind::kAdd:
        affine.shift[c] = number;
        break;
      case OpKind::kSub:
        affine.scale[c] = is_left ? 1 : -1;
        affine.shift[c] = is_left ? -number : number;
        break;
      case OpKind::kMul:
        affine.scale[c] = number;
        break;
      default:  // Div
        affine.scale[c] = 1 / number;
    }
  }
  return affine;
}

bool AreFinite(const std::vector<double>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](double number) { return std::isfinite(number); });
}

}  // namespace

std::optional<ChannelAffine> ChannelAffineOf(const GraphEditor& graph,
                                             const Node& node, ValueId x) {
  if (node.outputs.size() != 1 || !AreAlike(graph, x, node.outputs[0])) {
    return std::nullopt;
  }
  std::optional<ChannelAffine> affine;
  switch (node.op) {
    case OpKind::kBatchNormalization:
      if (node.inputs[0] == x) affine = OfBatchNormalization(graph, node);
      break;
    case OpKind::kAdd:
    case OpKind::kSub:
    case OpKind::kMul:
    case OpKind::kDiv:
      affine = OfArithmetic(graph, node, x);
      break;
    default:
      break;
  }
  // An infinity times a weight of 0 would be a NaN where the node gives none.
  if (affine.has_value() &&
      !(AreFinite(affine->scale) && AreFinite(affine->shift))) {
    return std::nullopt;
  }
  return affine;
}

bool IsFloat(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 ||
         dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

std::optional<std::vector<double>> KnownFloats(const GraphEditor& graph,
                                               ValueId value) {
  if (value == kNoValue) return std::nullopt;
  const HostTensor& tensor = graph.constant(value);
  switch (tensor.dtype()) {
    case DType::kFloat32:
      return Numbers<float>(tensor);
    case DType::kFloat64:
      return Numbers<double>(tensor);
    case DType::kFloat16:
      return Numbers<Float16>(tensor);
    case DType::kBFloat16:
      return Numbers<BFloat16>(tensor);
    default:
      return std::nullopt;
  }
}

HostTensor FloatTensor(DType dtype, Shape shape,
                       const std::vector<double>& numbers) {
  return HostTensor::Make(dtype, std::move(shape),
                          [&](absl::Span<std::byte> bytes) {
                            switch (dtype) {
                              case DType::kFloat64:
                                return Fill<double>(numbers, bytes);
                              case DType::kFloat16:
                                return Fill<Float16>(numbers, bytes);
                              case DType::kBFloat16:
                                return Fill<BFloat16>(numbers, bytes);
                              default:
                                return Fill<float>(numbers, bytes);
                            }
                          });
}

}  // namespace tensord
