#ifndef TENSORD_CLIENTS_CPP_GRAPH_SOURCE_H_
#define TENSORD_CLIENTS_CPP_GRAPH_SOURCE_H_

#include <string>
#include <utility>

#include "clients/cpp/graph_id.h"
#include "tensord/v1/graph.pb.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// A graph that can be sent again: its bytes, and the id that every daemon gives
// them. Calls that take one need no submission before, and survive a daemon
// that was restarted or has dropped the graph from its cache.
//
// Threading and ownership: a value that never changes. The bytes of a large
//   model are here as long as it is.
class GraphSource {
 public:
  // The bytes are a serialized v1::Graph or an ONNX model, whose initializers
  // are all in them: what a tensor's handle stands for only the daemon knows.
  GraphSource(v1::GraphFormat format, std::string bytes,
              v1::CompileOptions compile = {})
      : format_(format),
        bytes_(std::move(bytes)),
        compile_(std::move(compile)),
        graph_id_(GraphId(format_, bytes_, compile_)) {}

  explicit GraphSource(const v1::Graph& graph, v1::CompileOptions compile = {})
      : GraphSource(v1::GRAPH_FORMAT_TENSORD, graph.SerializeAsString(),
                    std::move(compile)) {}

  v1::GraphFormat format() const { return format_; }
  const std::string& bytes() const { return bytes_; }
  const v1::CompileOptions& compile() const { return compile_; }
  const std::string& graph_id() const { return graph_id_; }

 private:
  v1::GraphFormat format_;
  std::string bytes_;
  v1::CompileOptions compile_;
  std::string graph_id_;
};

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_GRAPH_SOURCE_H_
