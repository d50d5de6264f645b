#include "server/rpc/graph_handles.h"

#include <utility>

#include "absl/time/clock.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/sessions/resource_id.h"
#include "server/sessions/sha256.h"
#include "server/tensors/tensor_upload.h"
#include "server/wire/wire_reader.h"

namespace tensord {
namespace {

// Of graph.proto.
namespace graph {
enum Field : uint32_t { kNodes = 6, kInitializers = 15 };
}
namespace node {
enum Field : uint32_t { kAttributes = 7 };
}
namespace attribute {
enum Field : uint32_t { kGraph = 8, kGraphs = 9 };
}
namespace graph_list {
enum Field : uint32_t { kValues = 1 };
}
namespace initializer {
enum Field : uint32_t { kTensorId = 2 };
}
constexpr size_t kMaxTensorIdBytes = 256;
// More than the decoder allows.
constexpr int kMaxDepth = 100;

class Walk {
 public:
  // The handles of all initializers, in the order of the graph's id; false for
  // bytes that are no graph.
  bool Graph(WireReader reader, int depth) {
    if (depth > kMaxDepth) return false;
    return Each(reader, graph::kInitializers,
                [&](WireReader it) { return Initializer(it); }) &&
           Each(reader, graph::kNodes, [&](WireReader it) {
             return Each(it, node::kAttributes, [&](WireReader attribute) {
               return Attribute(attribute, depth);
             });
           });
  }

  std::vector<std::string> TakeHandles() { return std::move(handles_); }

 private:
  // Every submessage of a field.
  template <typename Visit>
  static bool Each(WireReader reader, uint32_t field, Visit visit) {
    while (!reader.AtEnd()) {
      WireReader::Tag tag;
      if (!reader.ReadTag(tag)) return false;
      if (tag.field == field && tag.type == WireReader::kLengthDelimited) {
        WireReader nested = reader;
        size_t outer_end;
        if (!nested.Enter(outer_end) || !visit(nested)) return false;
      }
      if (!reader.SkipValue(tag)) return false;
    }
    return true;
  }

  bool Attribute(WireReader reader, int depth) {
    return Each(reader, attribute::kGraph,
                [&](WireReader it) { return Graph(it, depth + 1); }) &&
           Each(reader, attribute::kGraphs, [&](WireReader list) {
             return Each(list, graph_list::kValues,
                         [&](WireReader it) { return Graph(it, depth + 1); });
           });
  }

  bool Initializer(WireReader reader) {
    while (!reader.AtEnd()) {
      WireReader::Tag tag;
      if (!reader.ReadTag(tag)) return false;
      if (tag.field == initializer::kTensorId &&
          tag.type == WireReader::kLengthDelimited) {
        std::string id;
        if (!reader.ReadString(kMaxTensorIdBytes, id)) return false;
        handles_.push_back(std::move(id));
      } else if (!reader.SkipValue(tag)) {
        return false;
      }
    }
    return true;
  }

  std::vector<std::string> handles_;
};

std::string ContentHash(const ResidentTensor& tensor) {
  const ResidentTensor::Description& description = tensor.description();
  if (!description.content_sha256.empty()) return description.content_sha256;
  Sha256 sha;
  AddTensorHead(description.dtype, description.shape, sha);
  const PooledBuffer& bytes = *tensor.bytes();
  sha.Add({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return std::string(BytesOf(sha.Finish()));
}

}  // namespace

absl::StatusOr<GraphHandles> FindGraphHandles(
    absl::string_view graph, absl::string_view principal,
    const ServiceEnvironment& environment) {
  Walk walk;
  const absl::string_view segments[] = {graph};
  if (!walk.Graph(WireReader(segments), 0)) return GraphHandles();
  GraphHandles found;
  for (std::string& id : walk.TakeHandles()) {
    TENSORD_RETURN_IF_ERROR(
        CheckResourceId("tensor", id, environment.config.advertised_name));
    TENSORD_ASSIGN_OR_RETURN(
        const TensorTable::Pointer tensor,
        environment.holdings.tensors.Find(id, principal, absl::Now()));
    found.hashes.push_back(ContentHash(*tensor));
    found.tensors[std::move(id)] = tensor;
  }
  return found;
}

absl::StatusOr<HostTensor> CopyOfHandle(const GraphHandles::Tensors& tensors,
                                        absl::string_view tensor_id) {
  const auto found = tensors.find(tensor_id);
  if (found == tensors.end()) return ResourceNotFound("tensor", tensor_id);
  const ResidentTensor& tensor = *found->second;
  return HostTensor::Copy(tensor.description().dtype,
                          tensor.description().shape, tensor.bytes()->bytes());
}

}  // namespace tensord
