#include "engine/onnx/older_nodes.h"

#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/api/op_kind.h"
#include "engine/graph/escape.h"
#include "engine/graph/node_error.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/helper_nodes.h"
#include "engine/onnx/older_ops.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

class OlderNode {
 public:
  OlderNode(NodeDef node, FreshNames& fresh, std::vector<NodeDef>& nodes)
      : node_(std::move(node)), helpers_(fresh, nodes), nodes_(nodes) {}

  absl::Status Append(OlderChange change) {
    // Which inputs' memory an output could take; nobody's business since 6.
    if (node_.opset < 6) node_.attributes.Take("consumed_inputs");
    TENSORD_RETURN_IF_ERROR(Apply(change));
    node_.opset = kMinOpset;
    nodes_.push_back(std::move(node_));
    return absl::OkStatus();
  }

 private:
  absl::Status Apply(OlderChange change) {
    Attributes& attributes = node_.attributes;
    switch (change) {
      case OlderChange::kNone:
        return absl::OkStatus();
      case OlderChange::kBroadcast:
        return AlignSecond();
      case OlderChange::kGemm:
        return TakeFlag("broadcast").status();
      case OlderChange::kInference: {
        TENSORD_ASSIGN_OR_RETURN(const bool is_test, TakeFlag("is_test"));
        if (is_test) return absl::OkStatus();
        return absl::UnimplementedError(
            "attribute 'is_test' is 0: training is not supported");
      }
      case OlderChange::kChannels:
        if (node_.inputs.size() == 2) {
          const std::string one = helpers_.Int(1);
          Align(helpers_.Make(
              "Range", {one, helpers_.Make("Sub", {RankOf(0), one}), one}));
        }
        return absl::OkStatus();
      case OlderChange::kSelu:
        if (node_.opset < 6) {
          attributes.Add("alpha", 1.6732f);
          attributes.Add("gamma", 1.0507f);
        }
        return absl::OkStatus();
      case OlderChange::kConcat:
        if (node_.opset < 4) attributes.Add("axis", int64_t{1});
        return absl::OkStatus();
      case OlderChange::kCastByName:
        return node_.opset < 6 ? NameToNumber() : absl::OkStatus();
      case OlderChange::kReshape:
        if (node_.opset < 5) {
          TENSORD_ASSIGN_OR_RETURN(const std::vector<int64_t> shape,
                                   attributes.Ints("shape"));
          attributes.Take("shape");
          node_.inputs.push_back(helpers_.Ints(shape));
        }
        return absl::OkStatus();
      case OlderChange::kPad:
        if (node_.opset < 2) {
          std::optional<Attribute> pads = attributes.Take("paddings");
          if (pads.has_value()) attributes.Add("pads", *std::move(pads));
        }
        return absl::OkStatus();
      case OlderChange::kSplit:
        return node_.opset < 2 && node_.inputs.size() > 1 ? Unsupported()
                                                          : absl::OkStatus();
      case OlderChange::kTile:
        return node_.opset < 6 ? Unsupported() : absl::OkStatus();
    }
    return Unsupported();
  }

  absl::Status Unsupported() const {
    return absl::UnimplementedError(
        absl::StrCat(node_.op_type, " as operator set ", node_.opset,
                     " has it is not supported"));
  }

  // An attribute of 0 or 1 that operator set 7 does not have; 0 if absent.
  absl::StatusOr<bool> TakeFlag(absl::string_view name) {
    TENSORD_ASSIGN_OR_RETURN(const int64_t flag, node_.attributes.Int(name, 0));
    if (flag != 0 && flag != 1) {
      return AtAttribute(
          name, absl::InvalidArgumentError(absl::StrCat(flag, ", not 0 or 1")));
    }
    node_.attributes.Take(name);
    return flag == 1;
  }

  // With `broadcast`, the second operand's dimensions are those of the first
  // from `axis` on; without an axis the last ones, as today.
  absl::Status AlignSecond() {
    TENSORD_ASSIGN_OR_RETURN(const bool broadcasts, TakeFlag("broadcast"));
    TENSORD_ASSIGN_OR_RETURN(const int64_t axis,
                             node_.attributes.Int("axis", -1));
    if (!node_.attributes.Take("axis").has_value() || !broadcasts) {
      return absl::OkStatus();
    }
    if (axis < 0) {
      return AtAttribute("axis", absl::UnimplementedError(
                                     absl::StrCat(axis,
                                                  ": only axes from 0 on are "
                                                  "supported")));
    }
    if (node_.inputs.size() != 2) return absl::OkStatus();  // refused later
    Align(helpers_.Make(
        "Range",
        {RankOf(1), helpers_.Make("Sub", {RankOf(0), helpers_.Int(axis)}),
         helpers_.Int(1)}));
    return absl::OkStatus();
  }

  // Puts extents of 1 at these axes of the second operand.
  void Align(std::string axes) {
    node_.inputs[1] =
        helpers_.Make("Unsqueeze", {node_.inputs[1], std::move(axes)});
  }

  absl::Status NameToNumber() {
    TENSORD_ASSIGN_OR_RETURN(const std::string name,
                             node_.attributes.String("to", ""));
    onnx::TensorProto::DataType number;
    if (!onnx::TensorProto::DataType_Parse(name, &number)) {
      return AtAttribute(
          "to", absl::InvalidArgumentError(absl::StrCat(
                    Quoted({name.data(), name.size()}), " is no dtype")));
    }
    node_.attributes.Take("to");
    node_.attributes.Add("to", int64_t{number});
    return absl::OkStatus();
  }

  std::string RankOf(int input) { return helpers_.RankOf(node_.inputs[input]); }

  NodeDef node_;
  HelperNodes helpers_;  // in front
  std::vector<NodeDef>& nodes_;
};

}  // namespace

absl::Status AppendOlderNode(NodeDef node, FreshNames& fresh,
                             std::vector<NodeDef>& nodes) {
  const std::optional<OpKind> op =
      OpKindFromName({node.op_type.data(), node.op_type.size()});
  if (!op.has_value()) {
    nodes.push_back(std::move(node));  // refused by BuildGraph()
    return absl::OkStatus();
  }
  const std::optional<OlderChange> change = FindOlderChange(*op);
  if (!change.has_value()) {
    return absl::UnimplementedError(
        absl::StrCat("it is not supported in operator set ", node.opset,
                     ", only from ", kMinOpset, " on"));
  }
  return OlderNode(std::move(node), fresh, nodes).Append(*change);
}

}  // namespace tensord
