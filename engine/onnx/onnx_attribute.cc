#include "engine/onnx/onnx_attribute.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/graph_def.h"
#include "engine/graph/status_macros.h"
#include "onnx/onnx.pb.h"

namespace tensord {
namespace {

using Proto = onnx::AttributeProto;

// The type that the fields tell; UNDEFINED when none is set, which a list that
// is empty and a number that is 0 may look like.
Proto::AttributeType TypeOfFields(const Proto& proto) {
  if (proto.has_f()) return Proto::FLOAT;
  if (proto.has_i()) return Proto::INT;
  if (proto.has_s()) return Proto::STRING;
  if (proto.has_t()) return Proto::TENSOR;
  if (proto.has_g()) return Proto::GRAPH;
  if (proto.floats_size() > 0) return Proto::FLOATS;
  if (proto.ints_size() > 0) return Proto::INTS;
  if (proto.strings_size() > 0) return Proto::STRINGS;
  if (proto.tensors_size() > 0) return Proto::TENSORS;
  if (proto.graphs_size() > 0) return Proto::GRAPHS;
  if (proto.has_sparse_tensor()) return Proto::SPARSE_TENSOR;
  if (proto.sparse_tensors_size() > 0) return Proto::SPARSE_TENSORS;
  if (proto.has_tp()) return Proto::TYPE_PROTO;
  if (proto.type_protos_size() > 0) return Proto::TYPE_PROTOS;
  return Proto::UNDEFINED;
}

// In the order of Attribute's alternatives.
constexpr std::array<Proto::AttributeType, std::variant_size_v<Attribute>>
    kTypes = {Proto::INT,  Proto::FLOAT,  Proto::STRING,  Proto::TENSOR,
              Proto::INTS, Proto::FLOATS, Proto::STRINGS, Proto::GRAPH};

}  // namespace

absl::StatusOr<Attribute> ReadOnnxAttribute(Proto& proto,
                                            const OnnxAttributeParts& parts) {
  const Proto::AttributeType told = TypeOfFields(proto);
  const Proto::AttributeType type =
      proto.type() == Proto::UNDEFINED ? told : proto.type();
  if (told != Proto::UNDEFINED && told != type) {
    return absl::InvalidArgumentError(absl::StrCat(
        "says that its type is ", Proto::AttributeType_Name(type),
        " and has a value of type ", Proto::AttributeType_Name(told)));
  }
  switch (type) {
    case Proto::FLOAT:
      return Attribute(proto.f());
    case Proto::INT:
      return Attribute(int64_t{proto.i()});
    case Proto::STRING:
      return Attribute(proto.s());
    case Proto::TENSOR: {
      TENSORD_ASSIGN_OR_RETURN(HostTensor tensor,
                               parts.tensor(*proto.mutable_t()));
      return Attribute(std::move(tensor));
    }
    case Proto::GRAPH: {
      TENSORD_ASSIGN_OR_RETURN(GraphDef graph, parts.graph(*proto.mutable_g()));
      return Attribute(std::make_shared<const GraphDef>(std::move(graph)));
    }
    case Proto::FLOATS:
      return Attribute(
          std::vector<float>(proto.floats().begin(), proto.floats().end()));
    case Proto::INTS:
      return Attribute(
          std::vector<int64_t>(proto.ints().begin(), proto.ints().end()));
    case Proto::STRINGS:
      return Attribute(std::vector<std::string>(proto.strings().begin(),
                                                proto.strings().end()));
    case Proto::UNDEFINED:
      return absl::InvalidArgumentError("has neither a type nor a value");
    default:
      return absl::UnimplementedError(
          absl::StrCat("has type ", Proto::AttributeType_Name(type),
                       ", which is not supported"));
  }
}

absl::Status CheckReferenceType(const Proto& reference,
                                const Attribute& argument) {
  if (reference.type() == Proto::UNDEFINED ||
      reference.type() == kTypes[argument.index()]) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "refers to an attribute of type ", AttributeTypeName(argument),
      " as one of type ", Proto::AttributeType_Name(reference.type())));
}

}  // namespace tensord
