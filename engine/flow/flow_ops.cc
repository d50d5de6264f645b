#include "engine/flow/flow_ops.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

absl::Status NotAScalar(const FlowValue& value, const char* what,
                        absl::string_view wanted) {
  if (!value.is_tensor()) {
    return absl::InvalidArgumentError(absl::StrCat(what, " is no tensor"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", DTypeName(value.tensor->dtype()), " ",
                   value.tensor->shape().ToString(), ", not one ", wanted));
}

template <typename T>
absl::StatusOr<FlowValue> MakeScalar(DType dtype, T number, FlowRun& run) {
  absl::StatusOr<HostValue> value = run.Allocate(dtype, Shape());
  if (!value.ok()) return value.status();
  std::memcpy(value->bytes.data(), &number, sizeof(number));
  return FlowValue{.tensor = run.Keep(*std::move(value))};
}

// Bytes of one step along the axis, with everything inside it.
uint64_t InnerBytes(const FlowTensor& tensor, int axis) {
  return ByteSize(tensor.dtype(),
                  tensor.shape().ElementCount(axis + 1, tensor.shape().rank()));
}

absl::Status CheckWholeBytes(DType dtype) {
  if (BitWidth(dtype) % 8 == 0) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("elements of ", DTypeName(dtype),
                   " cannot be joined or cut: they are less than a byte"));
}

}  // namespace

const FlowValue& FlowNode::input(int i) const {
  static const FlowValue* const kAbsent = new FlowValue();
  return i < own_input_count() ? inputs[i] : *kAbsent;
}

absl::Span<const FlowValue> FlowNode::captured(int body) const {
  int begin = node.own_input_count;
  for (int b = 0; b < body; ++b) begin += node.bodies[b].captured_count;
  return absl::MakeConstSpan(inputs).subspan(begin,
                                             node.bodies[body].captured_count);
}

absl::StatusOr<std::vector<FlowValue>> RunFlowOp(FlowNode& node) {
  switch (node.node.op) {
    case OpKind::kIf:
      return RunIf(node);
    case OpKind::kLoop:
      return RunLoop(node);
    case OpKind::kScan:
      return RunScan(node);
    case OpKind::kIdentity:
      return std::vector<FlowValue>{node.input(0)};
    default:
      return RunSequenceOp(node);
  }
}

absl::StatusOr<bool> BoolScalar(const FlowValue& value, const char* what) {
  if (!value.is_tensor() || value.tensor->dtype() != DType::kBool ||
      value.tensor->shape().element_count() != 1) {
    return NotAScalar(value, what, "bool");
  }
  return value.tensor->bytes()[0] != std::byte{0};
}

absl::StatusOr<int64_t> IntScalar(const FlowValue& value, const char* what) {
  if (value.is_tensor() && value.tensor->shape().element_count() == 1) {
    const std::byte* bytes = value.tensor->bytes().data();
    if (value.tensor->dtype() == DType::kInt64) {
      int64_t number;
      std::memcpy(&number, bytes, sizeof(number));
      return number;
    }
    if (value.tensor->dtype() == DType::kInt32) {
      int32_t number;
      std::memcpy(&number, bytes, sizeof(number));
      return number;
    }
  }
  return NotAScalar(value, what, "integer");
}

absl::StatusOr<FlowValue> MakeInt64(int64_t number, FlowRun& run) {
  return MakeScalar(DType::kInt64, number, run);
}

absl::StatusOr<FlowValue> MakeBool(bool truth, FlowRun& run) {
  return MakeScalar(DType::kBool, truth, run);
}

absl::StatusOr<FlowValue> JoinTensors(
    absl::Span<const std::shared_ptr<FlowTensor>> tensors, int64_t axis,
    bool is_new_axis, FlowRun& run) {
  const FlowTensor& first = *tensors[0];
  const int rank = first.shape().rank() + (is_new_axis ? 1 : 0);
  if (axis < -rank || axis >= rank) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", axis, " is outside [", -rank, ", ", rank, ")"));
  }
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  if (absl::Status s = CheckWholeBytes(first.dtype()); !s.ok()) return s;
  // The extents that all must share, and the sum along the axis.
  Dims extents(first.shape().extents().begin(), first.shape().extents().end());
  if (is_new_axis) {
    extents.insert(extents.begin() + at, static_cast<int64_t>(tensors.size()));
  } else {
    extents[at] = 0;
  }
  for (size_t i = 0; i < tensors.size(); ++i) {
    const FlowTensor& tensor = *tensors[i];
    bool fits = tensor.dtype() == first.dtype() &&
                tensor.shape().rank() == first.shape().rank();
    for (int d = 0; fits && d < first.shape().rank(); ++d) {
      fits = (!is_new_axis && d == at) || tensor.shape()[d] == first.shape()[d];
    }
    if (!fits) {
      return absl::InvalidArgumentError(absl::StrCat(
          "tensor ", i, " is ", DTypeName(tensor.dtype()), " ",
          tensor.shape().ToString(), " and cannot join ",
          DTypeName(first.dtype()), " ", first.shape().ToString()));
    }
    if (is_new_axis) continue;
    extents[at] += tensor.shape()[at];
    if (extents[at] > kMaxElementCount) break;  // refused by Shape::Create
  }
  absl::StatusOr<Shape> shape = Shape::Create(extents);
  if (!shape.ok()) return shape.status();
  absl::StatusOr<HostValue> joined = run.Allocate(first.dtype(), *shape);
  if (!joined.ok()) return joined.status();

  const int64_t outer = shape->ElementCount(0, at);
  std::byte* target = joined->bytes.data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const std::shared_ptr<FlowTensor>& tensor : tensors) {
      const uint64_t bytes =
          outer == 0 ? 0
                     : tensor->bytes().size() / static_cast<uint64_t>(outer);
      if (bytes == 0) continue;
      std::memcpy(target, tensor->bytes().data() + o * bytes, bytes);
      target += bytes;
    }
  }
  return FlowValue{.tensor = run.Keep(*std::move(joined))};
}

absl::StatusOr<FlowValue> SliceTensor(const FlowTensor& tensor, int axis,
                                      int64_t begin, int64_t count,
                                      FlowRun& run) {
  if (absl::Status s = CheckWholeBytes(tensor.dtype()); !s.ok()) return s;
  Dims extents(tensor.shape().extents().begin(),
               tensor.shape().extents().end());
  extents[axis] = count;
  absl::StatusOr<Shape> shape = Shape::Create(extents);
  if (!shape.ok()) return shape.status();
  absl::StatusOr<HostValue> slice = run.Allocate(tensor.dtype(), *shape);
  if (!slice.ok()) return slice.status();
  const uint64_t inner = InnerBytes(tensor, axis);
  const uint64_t stride = inner * static_cast<uint64_t>(tensor.shape()[axis]);
  const uint64_t bytes = inner * static_cast<uint64_t>(count);
  const int64_t outer = shape->ElementCount(0, axis);
  for (int64_t o = 0; o < outer && bytes > 0; ++o) {
    std::memcpy(slice->bytes.data() + o * bytes,
                tensor.bytes().data() + o * stride + begin * inner, bytes);
  }
  return FlowValue{.tensor = run.Keep(*std::move(slice))};
}

absl::StatusOr<FlowValue> WithShape(const FlowTensor& tensor,
                                    const Shape& shape, FlowRun& run) {
  absl::StatusOr<HostValue> copy = run.Allocate(tensor.dtype(), shape);
  if (!copy.ok()) return copy.status();
  if (!tensor.bytes().empty()) {
    std::memcpy(copy->bytes.data(), tensor.bytes().data(),
                tensor.bytes().size());
  }
  return FlowValue{.tensor = run.Keep(*std::move(copy))};
}

}  // namespace tensord
