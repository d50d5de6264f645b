#include "engine/compiled/kernel_estimator.h"

#include <vector>

#include "engine/compiled/compiled_node.h"

namespace tensord {

const KernelEntry* KernelEstimator::FindKernel(
    const Node& node, const Inference& inference) const {
  DTypeList dtypes;
  std::vector<Layout> layouts;
  bool are_known = true;
  const auto add = [&](ValueId value) {
    if (value == kNoValue) {
      dtypes.push_back(DType::kUndefined);
      layouts.emplace_back();
      return;
    }
    const TensorType& type = inference.types[value];
    dtypes.push_back(type.dtype);
    if (!type.shape.has_value() || !IsKnown(*type.shape)) {
      are_known = false;
      return;
    }
    absl::StatusOr<Shape> shape = ToConcrete(*type.shape);
    are_known = are_known && shape.ok();
    if (are_known) layouts.push_back(Layout::Contiguous(*std::move(shape)));
  };
  for (ValueId input : node.inputs) add(input);
  for (ValueId output : node.outputs) add(output);
  if (!are_known) layouts.clear();
  std::vector<const std::byte*> host_constants;
  for (ValueId input : node.inputs) {
    const bool is_known =
        input != kNoValue && inference.constants[input].is_present();
    host_constants.push_back(
        is_known ? inference.constants[input].bytes().data() : nullptr);
  }
  const NodeSite site{.op = node.op,
                      .dtypes = dtypes,
                      .input_count = static_cast<int>(node.inputs.size()),
                      .layouts = layouts,
                      .host_constants = host_constants,
                      .params = node.params,
                      .precision = precision_};
  return ChooseKernel(site, device_.id.backend, table_,
                      {.require_deterministic = require_deterministic_});
}

std::optional<double> KernelEstimator::operator()(
    const Node& node, absl::Span<const TensorType> types,
    absl::Span<const HostTensor* const> constants) const {
  DTypeList dtypes;
  std::vector<Layout> layouts;
  for (const TensorType& type : types) {
    dtypes.push_back(type.dtype);
    if (type.dtype == DType::kUndefined) {
      layouts.emplace_back();
      continue;
    }
    if (!type.shape.has_value() || !IsKnown(*type.shape)) return std::nullopt;
    absl::StatusOr<Shape> shape = ToConcrete(*type.shape);
    if (!shape.ok()) return std::nullopt;
    layouts.push_back(Layout::Contiguous(*std::move(shape)));
  }
  std::vector<const std::byte*> host_constants;
  for (const HostTensor* constant : constants) {
    host_constants.push_back(constant == nullptr ? nullptr
                                                 : constant->bytes().data());
  }
  const NodeKnowledge knowledge{
      .layouts = layouts,
      .host_constants = host_constants,
      .device = &device_,
      .require_deterministic = require_deterministic_,
      .precision = precision_};
  absl::StatusOr<CompiledNode> compiled = CompileNode(
      node.op, std::move(dtypes), static_cast<int>(node.inputs.size()),
      device_.id.backend, node.params, table_, knowledge);
  if (!compiled.ok()) return std::nullopt;
  return compiled->estimated_ns;
}

}  // namespace tensord
