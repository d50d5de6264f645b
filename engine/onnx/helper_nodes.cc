#include "engine/onnx/helper_nodes.h"

#include <cstddef>
#include <cstring>

namespace tensord {

std::string HelperNodes::Make(absl::string_view op,
                              std::vector<std::string> inputs,
                              NamedAttributes attributes) {
  std::string output = fresh_.Make(op);
  MakeAs(output, op, std::move(inputs), std::move(attributes));
  return output;
}

void HelperNodes::MakeAs(std::string output, absl::string_view op,
                         std::vector<std::string> inputs,
                         NamedAttributes attributes) {
  NodeDef node;
  node.op_type = std::string(op);
  node.opset = kOpset;
  node.inputs = std::move(inputs);
  node.outputs.push_back(std::move(output));
  for (auto& [name, value] : attributes) {
    node.attributes.Add(std::move(name), std::move(value));
  }
  nodes_.push_back(std::move(node));
}

std::string HelperNodes::Constant(HostTensor value) {
  return Make("Constant", {}, {{"value", std::move(value)}});
}

std::string HelperNodes::Int(int64_t value) {
  return Constant(HostTensor::Int64s({value}).Reshaped(Shape()));
}

std::string HelperNodes::Ints(absl::Span<const int64_t> values) {
  return Constant(HostTensor::Int64s(values));
}

std::string HelperNodes::Double(double value) {
  const auto fill = [value](absl::Span<std::byte> bytes) {
    std::memcpy(bytes.data(), &value, sizeof(value));
  };
  return Constant(
      HostTensor::Make(DType::kFloat64, Shape({1}), fill).Reshaped(Shape()));
}

std::string HelperNodes::RankOf(const std::string& value) {
  return Make("Size", {Make("Shape", {value})});
}

std::string HelperNodes::ExtentsOf(const std::string& value, int64_t begin,
                                   int64_t end) {
  return Make("Shape", {value}, {{"start", begin}, {"end", end}});
}

}  // namespace tensord
