#include "engine/onnx/batch_normalization.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/helper_nodes.h"

namespace tensord {
namespace {

constexpr char kTrainingMode[] = "training_mode";
constexpr char kEpsilon[] = "epsilon";
constexpr char kMomentum[] = "momentum";

class Training {
 public:
  Training(NodeDef node, FreshNames& fresh, std::vector<NodeDef>& nodes)
      : node_(std::move(node)), helpers_(fresh, nodes), nodes_(nodes) {}

  absl::Status Append() {
    TENSORD_RETURN_IF_ERROR(CheckOperands());
    TENSORD_ASSIGN_OR_RETURN(const float epsilon,
                             node_.attributes.Float(kEpsilon, 1e-5f));
    TENSORD_ASSIGN_OR_RETURN(const float momentum,
                             node_.attributes.Float(kMomentum, 0.9f));
    const std::string x = Widen(node_.inputs[0]);
    const std::string axes = helpers_.Make(
        "Concat",
        {helpers_.Ints({0}),
         helpers_.Make("Range",
                       {helpers_.Int(2), helpers_.RankOf(x), helpers_.Int(1)})},
        {{"axis", int64_t{0}}});
    const std::string mean = helpers_.Make("ReduceMean", {x, axes});
    const std::string centred = helpers_.Make("Sub", {x, mean});
    const std::string variance = helpers_.Make(
        "ReduceMean", {helpers_.Make("Mul", {centred, centred}), axes});
    statistics_shape_ = helpers_.Make("Shape", {mean});
    const std::string deviation = helpers_.Make(
        "Sqrt", {helpers_.Make("Add", {variance, helpers_.Double(epsilon)})});
    const std::string scaled = helpers_.Make(
        "Mul", {helpers_.Make("Div", {centred, deviation}), Statistic(1)});
    Narrow(helpers_.Make("Add", {scaled, Statistic(2)}), 0, 0);
    nodes_.back().name = std::move(node_.name);
    Run(mean, 3, 1, momentum);
    Run(variance, 4, 2, momentum);
    return absl::OkStatus();
  }

 private:
  absl::Status CheckOperands() const {
    bool has_all = node_.inputs.size() == 5 && !node_.outputs.empty() &&
                   node_.outputs.size() <= 3;
    for (const std::string& input : node_.inputs) {
      has_all = has_all && !input.empty();
    }
    if (!has_all) {
      return absl::InvalidArgumentError(absl::StrCat(
          node_.inputs.size(), " inputs and ", node_.outputs.size(),
          " outputs, where it has 5, all given, and 1 to 3 in training"));
    }
    for (absl::string_view name : node_.attributes.Names()) {
      if (name != kTrainingMode && name != kEpsilon && name != kMomentum) {
        return absl::InvalidArgumentError(
            absl::StrCat("attribute ", Quoted(name), ": it has no such"));
      }
    }
    return absl::OkStatus();
  }

  std::string Widen(const std::string& value) {
    return helpers_.Make("Cast", {value},
                         {{"to", static_cast<int64_t>(DType::kFloat64)}});
  }

  // Input i, one number for each channel, in the shape of the batch's.
  std::string Statistic(int i) {
    return helpers_.Make("Reshape",
                         {Widen(node_.inputs[i]), statistics_shape_});
  }

  // Output `output`, if somebody wants it: the value in input i's dtype.
  void Narrow(const std::string& value, int output, int i) {
    if (output >= static_cast<int>(node_.outputs.size())) return;
    if (node_.outputs[output].empty()) return;
    helpers_.MakeAs(node_.outputs[output], "CastLike",
                    {value, node_.inputs[i]});
  }

  // Input i goes on as an output.
  void Run(const std::string& statistic, int i, int output, float momentum) {
    const std::string sum = helpers_.Make(
        "Add", {helpers_.Make("Mul", {Statistic(i), helpers_.Double(momentum)}),
                helpers_.Make("Mul", {statistic,
                                      helpers_.Double(1 - double{momentum})})});
    Narrow(helpers_.Make("Reshape", {sum, helpers_.Ints({-1})}), output, i);
  }

  NodeDef node_;
  HelperNodes helpers_;
  std::vector<NodeDef>& nodes_;
  std::string statistics_shape_;  // [1, channels, 1, ...]
};

}  // namespace

bool TrainsBatchNormalization(const NodeDef& node, int64_t opset) {
  if (opset < 14 || !IsDefaultDomain(node.domain) ||
      node.op_type != "BatchNormalization") {
    return false;
  }
  // An attribute of another type is refused with the node.
  return node.attributes.Int(kTrainingMode, 0).value_or(0) == 1;
}

absl::Status AppendBatchNormalizationTraining(NodeDef node, FreshNames& fresh,
                                              std::vector<NodeDef>& nodes) {
  return Training(std::move(node), fresh, nodes).Append();
}

}  // namespace tensord
