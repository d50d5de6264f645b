#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/flow/flow_ops.h"

// Sequences and optionals. A sequence is a list of shared tensors, so putting
// one in, taking one out and passing one on copy no bytes.

namespace tensord {
namespace {

using Outputs = absl::StatusOr<std::vector<FlowValue>>;

FlowValue MakeSequence(FlowValue::Sequence tensors) {
  return {.sequence =
              std::make_shared<const FlowValue::Sequence>(std::move(tensors))};
}

absl::StatusOr<FlowValue::Sequence> SequenceOf(const FlowNode& node, int i) {
  if (!node.input(i).is_sequence()) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " is no sequence"));
  }
  return *node.input(i).sequence;
}

absl::StatusOr<std::shared_ptr<FlowTensor>> TensorOf(const FlowNode& node,
                                                     int i) {
  if (!node.input(i).is_tensor()) {
    return absl::InvalidArgumentError(
        absl::StrCat("input ", i, " is no tensor"));
  }
  return node.input(i).tensor;
}

// A position counted from the end when negative, in [0, limit).
absl::StatusOr<int64_t> Position(const FlowValue& value, int64_t length,
                                 int64_t limit) {
  absl::StatusOr<int64_t> position = IntScalar(value, "the position");
  if (!position.ok()) return position;
  const int64_t at = *position < 0 ? *position + length : *position;
  if (*position < -length || at >= limit) {
    return absl::InvalidArgumentError(absl::StrCat(
        "position ", *position, " in a sequence of ", length, " tensors"));
  }
  return at;
}

Outputs Construct(FlowNode& node) {
  FlowValue::Sequence tensors;
  for (int i = 0; i < node.own_input_count(); ++i) {
    absl::StatusOr<std::shared_ptr<FlowTensor>> tensor = TensorOf(node, i);
    if (!tensor.ok()) return tensor.status();
    if (!tensors.empty() && (*tensor)->dtype() != tensors[0]->dtype()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "inputs 0 and ", i, " have dtypes ", DTypeName(tensors[0]->dtype()),
          " vs ", DTypeName((*tensor)->dtype())));
    }
    tensors.push_back(*std::move(tensor));
  }
  return std::vector<FlowValue>{MakeSequence(std::move(tensors))};
}

Outputs Insert(FlowNode& node) {
  absl::StatusOr<FlowValue::Sequence> tensors = SequenceOf(node, 0);
  if (!tensors.ok()) return tensors.status();
  absl::StatusOr<std::shared_ptr<FlowTensor>> tensor = TensorOf(node, 1);
  if (!tensor.ok()) return tensor.status();
  const auto length = static_cast<int64_t>(tensors->size());
  int64_t at = length;
  if (node.has_input(2)) {
    absl::StatusOr<int64_t> position =
        Position(node.input(2), length, length + 1);
    if (!position.ok()) return position.status();
    at = *position;
  }
  tensors->insert(tensors->begin() + at, *std::move(tensor));
  return std::vector<FlowValue>{MakeSequence(*std::move(tensors))};
}

Outputs Erase(FlowNode& node) {
  absl::StatusOr<FlowValue::Sequence> tensors = SequenceOf(node, 0);
  if (!tensors.ok()) return tensors.status();
  const auto length = static_cast<int64_t>(tensors->size());
  int64_t at = length - 1;
  if (node.has_input(1)) {
    absl::StatusOr<int64_t> position = Position(node.input(1), length, length);
    if (!position.ok()) return position.status();
    at = *position;
  }
  if (at < 0) return absl::InvalidArgumentError("the sequence is empty");
  tensors->erase(tensors->begin() + at);
  return std::vector<FlowValue>{MakeSequence(*std::move(tensors))};
}

Outputs At(FlowNode& node) {
  absl::StatusOr<FlowValue::Sequence> tensors = SequenceOf(node, 0);
  if (!tensors.ok()) return tensors.status();
  const auto length = static_cast<int64_t>(tensors->size());
  absl::StatusOr<int64_t> at = Position(node.input(1), length, length);
  if (!at.ok()) return at.status();
  return std::vector<FlowValue>{{.tensor = (*tensors)[*at]}};
}

Outputs Length(FlowNode& node) {
  absl::StatusOr<FlowValue::Sequence> tensors = SequenceOf(node, 0);
  if (!tensors.ok()) return tensors.status();
  absl::StatusOr<FlowValue> length =
      MakeInt64(static_cast<int64_t>(tensors->size()), node.run);
  if (!length.ok()) return length.status();
  return std::vector<FlowValue>{*std::move(length)};
}

// An empty tensor may have any extent, so bytes alone do not bound the parts.
constexpr int64_t kMaxParts = 1'000'000;

absl::Status CheckPartCount(int64_t count) {
  if (count <= kMaxParts) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "a sequence of ", count, " parts; at most ", kMaxParts, " are made"));
}

// How long each part is: as `split` lists them, as long as its one number says
// (the last may be shorter), or 1 without it.
absl::StatusOr<std::vector<int64_t>> PartLengths(const FlowNode& node,
                                                 int64_t extent) {
  std::vector<int64_t> lengths;
  if (node.has_input(1) && node.input(1).is_tensor() &&
      node.input(1).tensor->shape().rank() == 1) {
    const FlowTensor& split = *node.input(1).tensor;
    if (split.dtype() != DType::kInt64 && split.dtype() != DType::kInt32) {
      return absl::InvalidArgumentError(absl::StrCat(
          "split is ", DTypeName(split.dtype()), ", not int64 or int32"));
    }
    int64_t sum = 0;
    const int64_t count = split.shape()[0];
    if (absl::Status s = CheckPartCount(count); !s.ok()) return s;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t length =
          split.dtype() == DType::kInt64
              ? reinterpret_cast<const int64_t*>(split.bytes().data())[i]
              : reinterpret_cast<const int32_t*>(split.bytes().data())[i];
      if (length < 0 || length > extent - sum) {
        return absl::InvalidArgumentError(absl::StrCat(
            "part ", i, " of ", length, " in an extent of ", extent));
      }
      sum += length;
      lengths.push_back(length);
    }
    if (sum != extent) {
      return absl::InvalidArgumentError(
          absl::StrCat("parts sum to ", sum, " and the extent is ", extent));
    }
    return lengths;
  }
  int64_t length = 1;
  if (node.has_input(1)) {
    absl::StatusOr<int64_t> given = IntScalar(node.input(1), "split");
    if (!given.ok()) return given.status();
    length = *given;
  }
  if (length < 1) {
    return absl::InvalidArgumentError(absl::StrCat("parts of length ", length));
  }
  if (absl::Status s = CheckPartCount((extent - 1) / length + 1); !s.ok()) {
    return s;
  }
  for (int64_t at = 0; at < extent; at += std::min(length, extent - at)) {
    lengths.push_back(std::min(length, extent - at));
  }
  return lengths;
}

Outputs Split(FlowNode& node) {
  const auto& params = std::get<SequenceParams>(node.node.params);
  absl::StatusOr<std::shared_ptr<FlowTensor>> tensor = TensorOf(node, 0);
  if (!tensor.ok()) return tensor.status();
  const Shape& shape = (*tensor)->shape();
  if (params.axis < -shape.rank() || params.axis >= shape.rank()) {
    return absl::InvalidArgumentError(
        absl::StrCat("axis ", params.axis, " is outside [", -shape.rank(), ", ",
                     shape.rank(), ")"));
  }
  const int axis = static_cast<int>(params.axis < 0 ? params.axis + shape.rank()
                                                    : params.axis);
  absl::StatusOr<std::vector<int64_t>> lengths = PartLengths(node, shape[axis]);
  if (!lengths.ok()) return lengths.status();
  // Without `split` the parts lose the axis unless keepdims is 1.
  const bool drops_axis = !node.has_input(1) && !params.keep_dims;
  FlowValue::Sequence parts;
  int64_t begin = 0;
  for (int64_t length : *lengths) {
    if (absl::Status s = node.run.limits.Check(); !s.ok()) return s;
    absl::StatusOr<FlowValue> part =
        SliceTensor(**tensor, axis, begin, length, node.run);
    if (!part.ok()) return part.status();
    begin += length;
    if (drops_axis) {
      Dims extents(shape.extents().begin(), shape.extents().end());
      extents.erase(extents.begin() + axis);
      part = WithShape(*part->tensor, *Shape::Create(extents), node.run);
      if (!part.ok()) return part.status();
    }
    parts.push_back(part->tensor);
  }
  return std::vector<FlowValue>{MakeSequence(std::move(parts))};
}

Outputs Join(FlowNode& node) {
  const auto& params = std::get<SequenceParams>(node.node.params);
  absl::StatusOr<FlowValue::Sequence> tensors = SequenceOf(node, 0);
  if (!tensors.ok()) return tensors.status();
  if (tensors->empty()) {
    return absl::InvalidArgumentError("the sequence is empty");
  }
  absl::StatusOr<FlowValue> joined =
      JoinTensors(*tensors, params.axis, params.new_axis, node.run);
  if (!joined.ok()) return joined.status();
  return std::vector<FlowValue>{*std::move(joined)};
}

Outputs GetElement(FlowNode& node) {
  if (node.input(0).is_absent()) {
    return absl::InvalidArgumentError("the optional holds nothing");
  }
  return std::vector<FlowValue>{node.input(0)};
}

}  // namespace

Outputs RunSequenceOp(FlowNode& node) {
  switch (node.node.op) {
    case OpKind::kSequenceConstruct:
      return Construct(node);
    case OpKind::kSequenceEmpty:
      return std::vector<FlowValue>{MakeSequence({})};
    case OpKind::kSequenceInsert:
      return Insert(node);
    case OpKind::kSequenceErase:
      return Erase(node);
    case OpKind::kSequenceAt:
      return At(node);
    case OpKind::kSequenceLength:
      return Length(node);
    case OpKind::kSplitToSequence:
      return Split(node);
    case OpKind::kConcatFromSequence:
      return Join(node);
    case OpKind::kOptional:
      return std::vector<FlowValue>{node.input(0)};
    case OpKind::kOptionalHasElement: {
      absl::StatusOr<FlowValue> has =
          MakeBool(!node.input(0).is_absent(), node.run);
      if (!has.ok()) return has.status();
      return std::vector<FlowValue>{*std::move(has)};
    }
    case OpKind::kOptionalGetElement:
      return GetElement(node);
    default:
      return absl::InternalError(
          absl::StrCat(OpKindName(node.node.op), " is no flow operator"));
  }
}

}  // namespace tensord
