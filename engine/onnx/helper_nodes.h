#ifndef TENSORD_ENGINE_ONNX_HELPER_NODES_H_
#define TENSORD_ENGINE_ONNX_HELPER_NODES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "engine/graph/attributes.h"
#include "engine/graph/graph_def.h"
#include "engine/onnx/fresh_names.h"

namespace tensord {

// Nodes that the reader puts before a node of the model, or in its place. They
// mean operator set kOpset, whatever the model's is.
//
// Threading: one thread. Ownership: borrows both; appends to `nodes`.
class HelperNodes {
 public:
  static constexpr int64_t kOpset = 24;

  using NamedAttributes = std::vector<std::pair<std::string, Attribute>>;

  HelperNodes(FreshNames& fresh, std::vector<NodeDef>& nodes)
      : fresh_(fresh), nodes_(nodes) {}

  // The name of the one output of a node of the default domain.
  std::string Make(absl::string_view op, std::vector<std::string> inputs,
                   NamedAttributes attributes = {});
  // The same with an output that has a name already.
  void MakeAs(std::string output, absl::string_view op,
              std::vector<std::string> inputs, NamedAttributes attributes = {});

  std::string Constant(HostTensor value);
  std::string Int(int64_t value);                      // a scalar
  std::string Ints(absl::Span<const int64_t> values);  // a vector
  std::string Double(double value);                    // a scalar
  // A scalar that inference knows as soon as it knows the rank.
  std::string RankOf(const std::string& value);
  // The extents of dimensions [begin, end), as a vector.
  std::string ExtentsOf(const std::string& value, int64_t begin, int64_t end);

  FreshNames& fresh() { return fresh_; }

 private:
  FreshNames& fresh_;
  std::vector<NodeDef>& nodes_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_ONNX_HELPER_NODES_H_
