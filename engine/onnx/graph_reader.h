#ifndef TENSORD_ENGINE_ONNX_GRAPH_READER_H_
#define TENSORD_ENGINE_ONNX_GRAPH_READER_H_

#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "engine/graph/graph_def.h"
#include "engine/onnx/fresh_names.h"
#include "engine/onnx/functions.h"
#include "engine/onnx/scope.h"
#include "engine/onnx/value_info.h"
#include "onnx/onnx.pb.h"

namespace tensord {

// Takes the graph of a model apart, and puts the nodes of a function where it
// is called. Functions that call functions cost no call stack; graphs in
// attributes do, as deep as CheckExpansion() has let them nest.
//
// Threading: one thread. Ownership: borrows the functions; takes the bytes of
//   the graph's tensors. Tensors in functions are read once and shared by all
//   expansions.
// Errors: kInvalidArgument and kUnimplemented with the place, which inside a
//   function is the path of calls: "node 'layer0/norm/Add_2'";
//   kResourceExhausted when what is copied for the expansions is above
//   kMaxExpandedBytes.
class OnnxGraphReader {
 public:
  // Names and attributes that expansions may take together. The number of nodes
  // does not bound it: each may have a list of millions.
  static constexpr uint64_t kMaxExpandedBytes = uint64_t{256} << 20;

  // `opset` is that of the default domain, 0 if the model imports none.
  OnnxGraphReader(const FunctionLibrary& functions, int64_t opset,
                  onnx::GraphProto& graph)
      : functions_(functions), opset_(opset), graph_(graph), fresh_(graph) {}

  absl::StatusOr<GraphDef> Read();

 private:
  // A list of nodes that is being read: a graph's, or those of a call.
  struct Frame {
    google::protobuf::RepeatedPtrField<onnx::NodeProto>* nodes;
    const Scope* scope;  // null in the model's own graphs
    std::string path;    // of the calls that lead here
    std::unique_ptr<const Scope> owned_scope = nullptr;
    int next = 0;
  };

  absl::StatusOr<GraphDef> ReadGraph(onnx::GraphProto& proto,
                                     const Scope* scope,
                                     const std::string& path, ValuePlace place);
  absl::Status ReadNodes(Frame first, GraphDef& graph);
  absl::Status ReadNode(onnx::NodeProto& proto, const Frame& frame,
                        GraphDef& graph);
  // Of the node that was read last: its name, in a function its path.
  static std::string NameOf(const Frame& frame);
  // The nodes that a call stands for.
  absl::StatusOr<Frame> Enter(const OnnxFunction& function,
                              onnx::NodeProto& call, const Frame& caller,
                              GraphDef& graph);
  absl::StatusOr<Attributes> ReadAttributes(onnx::NodeProto& proto,
                                            const Frame& frame);
  // Nothing for an attribute that has no meaning here, or no value.
  absl::StatusOr<std::optional<Attribute>> ReadAttribute(
      onnx::AttributeProto& proto, const Frame& frame);
  absl::StatusOr<HostTensor> ReadTensor(onnx::TensorProto& proto,
                                        const Scope* scope);
  // 0 for a node of another domain.
  absl::StatusOr<int64_t> OpsetOf(const onnx::NodeProto& proto,
                                  const Scope* scope) const;
  absl::StatusOr<std::string> Resolve(const std::string& name,
                                      const Scope* scope);
  absl::Status Charge(uint64_t bytes);

  const FunctionLibrary& functions_;
  const int64_t opset_;
  onnx::GraphProto& graph_;
  FreshNames fresh_;
  absl::flat_hash_map<const onnx::TensorProto*, HostTensor> shared_tensors_;
  uint64_t expanded_bytes_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_GRAPH_READER_H_
