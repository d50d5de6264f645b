#include "engine/passes/pack_attention.h"

#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "engine/passes/node_query.h"

namespace tensord {
namespace {

constexpr int kParts = 3;  // queries, keys, values

// One of three products, with the sum behind it.
struct Projection {
  NodeId product = kNoNode;
  NodeId sum = kNoNode;  // none without a bias
  ValueId x = kNoValue;
  ValueId weights = kNoValue;
  ValueId bias = kNoValue;
};

// Matrices [rows, columns of each] side by side; vectors are matrices of a row.
HostTensor SideBySide(absl::Span<const HostTensor> tensors) {
  const int rank = tensors[0].shape().rank();
  const int64_t rows = tensors[0].shape().ElementCount(0, rank - 1);
  Dims extents(tensors[0].shape().extents().begin(),
               tensors[0].shape().extents().end());
  extents.back() = 0;
  for (const HostTensor& tensor : tensors) {
    extents.back() += tensor.shape()[rank - 1];
  }
  const auto element = static_cast<int64_t>(ByteSize(tensors[0].dtype(), 1));
  return HostTensor::Make(
      tensors[0].dtype(), *Shape::Create(extents),
      [&](absl::Span<std::byte> bytes) {
        std::byte* to = bytes.data();
        for (int64_t row = 0; row < rows; ++row) {
          for (const HostTensor& tensor : tensors) {
            const int64_t length = tensor.shape()[rank - 1] * element;
            std::memcpy(to, tensor.bytes().data() + row * length, length);
            to += length;
          }
        }
      });
}

class AttentionPacker {
 public:
  explicit AttentionPacker(PassContext& context)
      : context_(context), graph_(context.graph) {}

  int Run() {
    int count = 0;
    for (NodeId id : graph_.nodes()) {
      if (!graph_.is_live(id) || !CanPack(graph_.node(id))) continue;
      if (PackSplit(id) || PackProducts(id)) ++count;
    }
    return count;
  }

 private:
  // Three inputs of one size a head, read by nobody else.
  bool CanPack(const Node& node) const {
    if (node.op != OpKind::kAttention) return false;
    const auto& params = std::get<AttentionParams>(node.params);
    if (params.packs_qkv) return false;
    for (int i = 0; i < kParts; ++i) {
      const ValueId input = node.inputs[i];
      const auto& shape = graph_.type(input).shape;
      if (!shape.has_value() || shape->size() != 3 ||
          !shape->back().is_known() || graph_.read_count(input) != 1) {
        return false;
      }
    }
    const auto columns = [&](int i) {
      return graph_.type(node.inputs[i]).shape->back().extent();
    };
    return columns(1) == columns(2) &&
           columns(0) * params.key_value_heads ==
               columns(1) * params.query_heads &&
           graph_.type(node.inputs[0]).shape->at(1) ==
               graph_.type(node.inputs[1]).shape->at(1);
  }

  Node Packed(const Node& attention, ValueId input) const {
    Node node = attention;
    std::get<AttentionParams>(node.params).packs_qkv = true;
    node.inputs[0] = input;
    node.inputs[1] = node.inputs[2] = kNoValue;
    return node;
  }

  bool PackSplit(NodeId id) {
    const Node& attention = graph_.node(id);
    const Node* split = MadeBy(graph_, attention.inputs[0], OpKind::kSplit);
    if (split == nullptr || split->outputs.size() != kParts) return false;
    for (int i = 0; i < kParts; ++i) {
      if (split->outputs[i] != attention.inputs[i]) return false;
    }
    const int64_t axis = std::get<SplitParams>(split->params).axis;
    if (axis != 2 && axis != -1) return false;
    Node packed = Packed(attention, split->inputs[0]);
    if (!context_.HasKernel(packed)) return false;
    graph_.Fuse({graph_.producer(attention.inputs[0]), id}, std::move(packed));
    return true;
  }

  bool PackProducts(NodeId id) {
    std::vector<Projection> projections;
    for (int i = 0; i < kParts; ++i) {
      auto projection = FindProjection(graph_.node(id).inputs[i]);
      if (!projection.has_value()) return false;
      projections.push_back(*projection);
      const Projection& first = projections[0];
      if (projection->x != first.x ||
          (projection->bias == kNoValue) != (first.bias == kNoValue)) {
        return false;
      }
    }
    std::vector<HostTensor> weights;
    std::vector<HostTensor> biases;
    uint64_t bytes = 0;
    for (const Projection& projection : projections) {
      weights.push_back(graph_.constant(projection.weights));
      bytes += weights.back().size_bytes();
      if (projection.bias == kNoValue) continue;
      biases.push_back(graph_.constant(projection.bias));
      bytes += biases.back().size_bytes();
    }

    const Node attention = graph_.node(id);
    SymbolicShape shape = *graph_.type(attention.inputs[0]).shape;
    shape.back() = Dim::Known(Columns(weights));
    const DType dtype = graph_.type(attention.inputs[0]).dtype;
    const ValueId all = graph_.AddValue({dtype, shape}, attention.inputs[0]);
    Node packed = Packed(attention, all);
    if (!context_.HasKernel(packed) || !context_.Charge(bytes)) return false;
    Multiply(projections, weights, biases, {dtype, shape}, all);
    graph_.Replace(id, std::move(packed));
    return true;
  }

  static int64_t Columns(absl::Span<const HostTensor> weights) {
    int64_t columns = 0;
    for (const HostTensor& tensor : weights) columns += tensor.shape()[1];
    return columns;
  }

  // One product and one sum in the place of three.
  void Multiply(const std::vector<Projection>& projections,
                const std::vector<HostTensor>& weights,
                const std::vector<HostTensor>& biases, const TensorType& type,
                ValueId result) {
    std::vector<NodeId> products;
    std::vector<NodeId> sums;
    for (const Projection& projection : projections) {
      products.push_back(projection.product);
      sums.push_back(projection.sum);
    }
    const Projection& first = projections[0];
    const ValueId product =
        biases.empty() ? result : graph_.AddValue(type, result);
    graph_.Fuse(
        products,
        MakeNode(graph_.node(first.product), OpKind::kMatMul, NoParams(),
                 {first.x, Constant(weights, first.weights)}, {product}));
    if (biases.empty()) return;
    graph_.Fuse(sums,
                MakeNode(graph_.node(first.sum), OpKind::kAdd, NoParams(),
                         {product, Constant(biases, first.bias)}, {result}));
  }

  ValueId Constant(const std::vector<HostTensor>& parts, ValueId origin) {
    return graph_.AddConstant(
        context_.Remember("side by side", parts,
                          [&] { return SideBySide(parts); }),
        origin);
  }

  // x * weights + bias, which are constants [k, n] and [n].
  std::optional<Projection> FindProjection(ValueId value) {
    Projection found;
    ValueId product = value;
    if (const Node* sum = MadeBy(graph_, value, OpKind::kAdd)) {
      found.sum = graph_.producer(value);
      const bool is_right = graph_.constant(sum->inputs[1]).is_present();
      found.bias = sum->inputs[is_right ? 1 : 0];
      product = sum->inputs[is_right ? 0 : 1];
      if (graph_.constant(found.bias).shape().rank() != 1 ||
          !graph_.constant(found.bias).is_present() ||
          graph_.only_reader(product) != found.sum) {
        return std::nullopt;
      }
    }
    const Node* node = MadeBy(graph_, product, OpKind::kMatMul);
    if (node == nullptr || node->params.epilogue != nullptr) {
      return std::nullopt;
    }
    found.product = graph_.producer(product);
    found.x = node->inputs[0];
    found.weights = node->inputs[1];
    const HostTensor& weights = graph_.constant(found.weights);
    if (!weights.is_present() || weights.shape().rank() != 2) {
      return std::nullopt;
    }
    if (found.bias != kNoValue &&
        graph_.constant(found.bias).shape()[0] != weights.shape()[1]) {
      return std::nullopt;
    }
    return found;
  }

  PassContext& context_;
  GraphEditor& graph_;
};

}  // namespace

int PackAttention(PassContext& context) {
  return AttentionPacker(context).Run();
}

}  // namespace tensord
