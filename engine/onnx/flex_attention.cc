#include "engine/onnx/flex_attention.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/helper_nodes.h"

namespace tensord {
namespace {

using Modifier = std::shared_ptr<const GraphDef>;

constexpr char kScoreMod[] = "score_mod";
constexpr char kProbMod[] = "prob_mod";
constexpr char kPrecision[] = "softmax_precision";
constexpr char kScale[] = "scale";

class FlexAttention {
 public:
  FlexAttention(NodeDef node, FreshNames& fresh, std::vector<NodeDef>& nodes)
      : node_(std::move(node)), helpers_(fresh, nodes), nodes_(nodes) {}

  absl::Status Append() {
    TENSORD_RETURN_IF_ERROR(CheckOperands());
    TENSORD_ASSIGN_OR_RETURN(const Modifier score_mod, FindModifier(kScoreMod));
    TENSORD_ASSIGN_OR_RETURN(const Modifier prob_mod, FindModifier(kProbMod));
    if (score_mod == nullptr && prob_mod == nullptr) {
      node_.domain.clear();
      node_.op_type = "Attention";
      node_.opset = HelperNodes::kOpset;
      nodes_.push_back(std::move(node_));
      return absl::OkStatus();
    }
    TENSORD_ASSIGN_OR_RETURN(
        precision_,
        FindPrecision(score_mod != nullptr ? *score_mod : *prob_mod));
    TENSORD_ASSIGN_OR_RETURN(const std::string scale, Scale());
    // A head of keys serves a group of queries' heads, which become one head
    // of more queries: [batch, heads of keys, group * queries, size].
    const std::string batch_and_heads = helpers_.ExtentsOf(key(), 0, 2);
    const std::string keys = helpers_.ExtentsOf(key(), 2, 3);
    const std::string size = helpers_.ExtentsOf(query(), 3, 4);
    const std::string all = helpers_.Ints({-1});
    const std::string q = Reshape(Cast(query()), {batch_and_heads, all, size});
    const std::string k = Reshape(Cast(key()), {batch_and_heads, keys, size});
    const std::string products = helpers_.Make(
        "MatMul",
        {q, helpers_.Make("Transpose", {k},
                          {{"perm", std::vector<int64_t>{0, 1, 3, 2}}})});
    const std::string queries = helpers_.ExtentsOf(query(), 0, 3);
    const std::string scores =
        Reshape(helpers_.Make("Mul", {products, scale}), {queries, keys});
    const std::string probabilities =
        Modify(prob_mod, helpers_.Make("Softmax", {Modify(score_mod, scores)},
                                       {{"axis", int64_t{-1}}}));
    const std::string value_size = helpers_.ExtentsOf(value(), 3, 4);
    const std::string v =
        Reshape(Cast(value()), {batch_and_heads, keys, value_size});
    const std::string sums = helpers_.Make(
        "MatMul", {Reshape(probabilities, {batch_and_heads, all, keys}), v});
    helpers_.MakeAs(node_.outputs[0], "CastLike",
                    {Reshape(sums, {queries, value_size}), query()});
    nodes_.back().name = std::move(node_.name);
    return absl::OkStatus();
  }

 private:
  const std::string& query() const { return node_.inputs[0]; }
  const std::string& key() const { return node_.inputs[1]; }
  const std::string& value() const { return node_.inputs[2]; }

  absl::Status CheckOperands() const {
    bool has_all = node_.inputs.size() == 3 && node_.outputs.size() == 1;
    for (const std::string& input : node_.inputs) {
      has_all = has_all && !input.empty();
    }
    if (!has_all) {
      return absl::InvalidArgumentError(absl::StrCat(
          node_.inputs.size(), " inputs and ", node_.outputs.size(),
          " outputs, where a FlexAttention has 3, all given, and 1"));
    }
    for (absl::string_view name : node_.attributes.Names()) {
      if (name != kScoreMod && name != kProbMod && name != kPrecision &&
          name != kScale) {
        return absl::InvalidArgumentError(absl::StrCat(
            "attribute ", Quoted(name), ": a FlexAttention has no such"));
      }
    }
    return absl::OkStatus();
  }

  // Null where the attribute is absent.
  absl::StatusOr<Modifier> FindModifier(absl::string_view name) const {
    const Attribute* attribute = node_.attributes.Find(name);
    if (attribute == nullptr) return Modifier();
    const auto* graph = std::get_if<Modifier>(attribute);
    if (graph == nullptr) {
      return AtAttribute(name, absl::InvalidArgumentError(absl::StrCat(
                                   "is ", AttributeTypeName(*attribute),
                                   ", where a graph is needed")));
    }
    if ((*graph)->inputs.size() != 1 || (*graph)->outputs.size() != 1) {
      return AtAttribute(
          name, absl::InvalidArgumentError(absl::StrCat(
                    "a graph of ", (*graph)->inputs.size(), " inputs and ",
                    (*graph)->outputs.size(), " outputs, not 1 and 1")));
    }
    return *graph;
  }

  // In what scores and probabilities are computed: float32, or float64 for
  // operands of float64. Those are not known here; the graph's input is.
  absl::StatusOr<DType> FindPrecision(const GraphDef& modifier) const {
    const DType declared = modifier.inputs[0].dtype;
    TENSORD_ASSIGN_OR_RETURN(
        const int64_t number,
        node_.attributes.Int(kPrecision,
                             declared == DType::kUndefined
                                 ? static_cast<int64_t>(DType::kFloat32)
                                 : static_cast<int64_t>(declared)));
    const DType dtype = DTypeFromNumber(number).value_or(DType::kUndefined);
    switch (dtype) {
      case DType::kFloat32:
      case DType::kFloat64:
      case DType::kFloat16:
      case DType::kBFloat16:
        return dtype;
      default:
        return AtAttribute(
            kPrecision, absl::InvalidArgumentError(absl::StrCat(
                            number, " is not the number of a floating dtype")));
    }
  }

  // 1 / sqrt(head size) where it is not given.
  absl::StatusOr<std::string> Scale() {
    if (node_.attributes.Has(kScale)) {
      TENSORD_ASSIGN_OR_RETURN(const float scale,
                               node_.attributes.Float(kScale, 0));
      return Cast(helpers_.Double(scale));
    }
    const std::string size = Cast(helpers_.ExtentsOf(query(), 3, 4));
    return helpers_.Make("Reciprocal", {helpers_.Make("Sqrt", {size})});
  }

  std::string Cast(const std::string& x) {
    return helpers_.Make("Cast", {x},
                         {{"to", static_cast<int64_t>(precision_)}});
  }

  // To the extents of these vectors, one behind the other.
  std::string Reshape(const std::string& x, std::vector<std::string> extents) {
    return helpers_.Make("Reshape",
                         {x, helpers_.Make("Concat", std::move(extents),
                                           {{"axis", int64_t{0}}})});
  }

  // What the graph makes of x. It may use values of the graphs around it, so
  // that it stays one, and its own names need not differ from another's.
  std::string Modify(const Modifier& modifier, const std::string& x) {
    if (modifier == nullptr) return x;
    auto body = std::make_shared<GraphDef>(*modifier);
    ValueDef iteration{.name = helpers_.fresh().Make("iteration"),
                       .dtype = DType::kInt64};
    ValueDef condition{.name = helpers_.fresh().Make("condition"),
                       .dtype = DType::kBool};
    ValueDef goes_on{.name = helpers_.fresh().Make("goes_on"),
                     .dtype = DType::kBool};
    HelperNodes(helpers_.fresh(), body->nodes)
        .MakeAs(goes_on.name, "Identity", {condition.name});
    body->inputs.insert(body->inputs.begin(),
                        {std::move(iteration), std::move(condition)});
    body->outputs.insert(body->outputs.begin(), std::move(goes_on));
    return helpers_.Make("Loop", {helpers_.Int(1), "", x},
                         {{"body", Modifier(std::move(body))}});
  }

  NodeDef node_;
  HelperNodes helpers_;
  std::vector<NodeDef>& nodes_;
  DType precision_ = DType::kUndefined;
};

}  // namespace

absl::Status AppendFlexAttention(NodeDef node, FreshNames& fresh,
                                 std::vector<NodeDef>& nodes) {
  return FlexAttention(std::move(node), fresh, nodes).Append();
}

}  // namespace tensord
