#include "engine/passes/image_twins.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/ops/channels_last.h"

namespace tensord {
namespace {

// Output dimension i of a Transpose is the input's dimension permutation[i].
Dims PermutationToLast(int rank) {
  Dims permutation = {0};
  for (int i = 2; i < rank; ++i) permutation.push_back(i);
  permutation.push_back(1);
  return permutation;
}

Dims PermutationToFirst(int rank) {
  Dims permutation = {0, rank - 1};
  for (int i = 1; i < rank - 1; ++i) permutation.push_back(i);
  return permutation;
}

// Whether [N, C, D...] and [N, D..., C] have the same order in memory.
bool IsMoveFree(const SymbolicShape& first) {
  const auto is_one = [](Dim dim) { return dim == Dim::Known(1); };
  return is_one(first[1]) ||
         std::all_of(first.begin() + 2, first.end(), is_one);
}

// A constant's elements with channels last; its shape is [N, C, D...].
HostTensor Rearranged(const HostTensor& tensor) {
  const Shape& shape = tensor.shape();
  const int rank = shape.rank();
  const int64_t channels = shape[1];
  const int64_t positions = shape.ElementCount(2, rank);
  const auto element = static_cast<int64_t>(ByteSize(tensor.dtype(), 1));
  absl::StatusOr<Shape> last = ToConcrete(ToChannelsLast(ToSymbolic(shape)));
  return HostTensor::Make(
      tensor.dtype(), *std::move(last), [&](absl::Span<std::byte> bytes) {
        std::byte* to = bytes.data();
        for (int64_t n = 0; n < shape[0]; ++n) {
          const std::byte* image =
              tensor.bytes().data() + n * channels * positions * element;
          for (int64_t p = 0; p < positions; ++p) {
            for (int64_t c = 0; c < channels; ++c, to += element) {
              std::memcpy(to, image + (c * positions + p) * element, element);
            }
          }
        }
      });
}

}  // namespace

ImageTwins::ImageTwins(const Graph& source, const Inference& inference)
    : inference_(inference),
      graph_(source),
      types_(inference.types),
      last_(source.values.size(), kNoValue),
      has_first_(source.values.size(), false) {
  graph_.nodes.clear();
  for (size_t v = 0; v < graph_.values.size(); ++v) {
    graph_.values[v].producer = kNoNode;
    has_first_[v] =
        graph_.values[v].is_input || graph_.values[v].constant.is_present();
  }
}

const TensorType* ImageTwins::KnownType(ValueId value) const {
  const TensorType& type = types_[value];
  return type.shape.has_value() && IsKnown(*type.shape) ? &type : nullptr;
}

bool ImageTwins::IsImage(ValueId value) const {
  const TensorType* type = KnownType(value);
  return type != nullptr && type->shape->size() >= 3 &&
         type->shape->size() <= 5 && BitWidth(type->dtype) >= 8 &&
         std::find(type->shape->begin(), type->shape->end(), Dim::Known(0)) ==
             type->shape->end();
}

const HostTensor* ImageTwins::ConstantOf(ValueId value) const {
  if (value == kNoValue) return nullptr;
  const HostTensor& own = graph_.values[value].constant;
  if (own.is_present()) return &own;
  const size_t known = inference_.constants.size();
  if (static_cast<size_t>(value) >= known) return nullptr;
  const HostTensor& inferred = inference_.constants[value];
  return inferred.is_present() ? &inferred : nullptr;
}

ValueId ImageTwins::First(ValueId value) {
  if (value == kNoValue || has_first_[value]) return value;
  has_first_[value] = true;
  AddMove(last_[value], value,
          PermutationToFirst(static_cast<int>(types_[value].shape->size())));
  return value;
}

ValueId ImageTwins::Last(ValueId value) {
  if (last_[value] != kNoValue) return last_[value];
  const ValueId twin = DefineLast(value);
  // DefineLast() says that a node will compute the twin; this one needs the
  // value, which is there.
  AddMove(value, twin,
          PermutationToLast(static_cast<int>(types_[value].shape->size())));
  return twin;
}

ValueId ImageTwins::DefineLast(ValueId value) {
  last_[value] =
      AddValue(absl::StrCat(graph_.values[value].name, ":channels_last"),
               {types_[value].dtype, ToChannelsLast(*types_[value].shape)});
  return last_[value];
}

ValueId ImageTwins::BroadcastConstant(ValueId value, int rank) {
  const auto [it, is_new] =
      broadcast_.try_emplace(std::pair(value, rank), kNoValue);
  if (!is_new) return it->second;
  const HostTensor& tensor = *ConstantOf(value);
  SymbolicShape shape(rank - tensor.shape().rank(), Dim::Known(1));
  for (int64_t extent : tensor.shape().extents()) {
    shape.push_back(Dim::Known(extent));
  }
  it->second = AddConstant(
      absl::StrCat(graph_.values[value].name, ":channels_last", rank),
      Rearranged(tensor.Reshaped(*ToConcrete(shape))));
  return it->second;
}

ValueId ImageTwins::AddConstant(absl::string_view name, HostTensor tensor) {
  const ValueId id =
      AddValue(std::string(name), {tensor.dtype(), ToSymbolic(tensor.shape())});
  graph_.values[id].type = types_[id];
  graph_.values[id].constant = std::move(tensor);
  has_first_[id] = true;
  return id;
}

void ImageTwins::Keep(const Node& node) {
  for (ValueId input : node.inputs) First(input);
  for (ValueId output : node.outputs) {
    if (output != kNoValue) has_first_[output] = true;
  }
  Append(node);
}

void ImageTwins::Add(Node node) {
  added_.push_back(static_cast<NodeId>(graph_.nodes.size()));
  Append(std::move(node));
}

void ImageTwins::Append(Node node) {
  const auto id = static_cast<NodeId>(graph_.nodes.size());
  for (ValueId output : node.outputs) {
    if (output != kNoValue) graph_.values[output].producer = id;
  }
  graph_.nodes.push_back(std::move(node));
}

ValueId ImageTwins::AddValue(std::string name, TensorType type) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  Value& value = graph_.values.emplace_back();
  value.name = std::move(name);
  types_.push_back(std::move(type));
  last_.push_back(kNoValue);
  has_first_.push_back(false);
  return id;
}

ValueId ImageTwins::AddReshape(const Node& reshape, ValueId from,
                               const SymbolicShape& shape) {
  Node node = reshape;
  const ValueId to = AddValue(absl::StrCat(reshape.name, ":channels_last"),
                              {types_[from].dtype, shape});
  node.params = ReshapeParams();
  node.inputs = {from, AddShape(to)};
  node.outputs = {to};
  Add(std::move(node));
  return to;
}

ValueId ImageTwins::AddShape(ValueId value) {
  std::vector<int64_t> extents;
  for (Dim dim : *types_[value].shape) extents.push_back(dim.extent());
  return AddConstant(absl::StrCat(graph_.values[value].name, ":shape"),
                     HostTensor::Int64s(extents));
}

void ImageTwins::AddMove(ValueId from, ValueId to, Dims permutation) {
  Node node;
  node.name = absl::StrCat(graph_.values[to].name, ":move");
  node.outputs = {to};
  const SymbolicShape& shape = *types_[to].shape;
  const bool is_to_last = permutation.back() == 1;
  if (IsMoveFree(is_to_last ? *types_[from].shape : shape)) {
    node.op = OpKind::kReshape;
    node.params = ReshapeParams();
    node.inputs = {from, AddShape(to)};
  } else {
    node.op = OpKind::kTranspose;
    node.params = TransposeParams{std::move(permutation)};
    node.inputs = {from};
    moves_.push_back(static_cast<NodeId>(graph_.nodes.size()));
  }
  node.own_input_count = static_cast<int>(node.inputs.size());
  Add(std::move(node));
}

}  // namespace tensord
