#ifndef TENSORD_ENGINE_GRAPH_ATTRIBUTES_H_
#define TENSORD_ENGINE_GRAPH_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

struct GraphDef;

// The value of one attribute, as it was sent. The engine reads attributes once,
// into typed OpParams.
using Attribute =
    std::variant<int64_t, float, std::string, HostTensor, std::vector<int64_t>,
                 std::vector<float>, std::vector<std::string>,
                 std::shared_ptr<const GraphDef>>;

// "int", "float", "string", "tensor", "ints", "floats", "strings", "graph".
absl::string_view AttributeTypeName(const Attribute& attribute);

// The attributes of one node by name.
//
// Threading and ownership: a plain value.
// Errors: a getter returns its default when the attribute is absent, and
//   kInvalidArgument that names the attribute, the type it has and the type it
//   should have otherwise.
class Attributes {
 public:
  // False if the name is there already.
  bool Add(std::string name, Attribute value);

  // Takes one out; nothing if it is not there.
  std::optional<Attribute> Take(absl::string_view name);

  bool Has(absl::string_view name) const { return values_.contains(name); }
  const Attribute* Find(absl::string_view name) const;
  int size() const { return static_cast<int>(values_.size()); }
  // Sorted.
  std::vector<absl::string_view> Names() const;

  absl::StatusOr<int64_t> Int(absl::string_view name, int64_t absent) const;
  absl::StatusOr<float> Float(absl::string_view name, float absent) const;
  absl::StatusOr<std::string> String(absl::string_view name,
                                     absl::string_view absent) const;
  absl::StatusOr<std::vector<int64_t>> Ints(absl::string_view name) const;
  absl::StatusOr<std::vector<float>> Floats(absl::string_view name) const;
  absl::StatusOr<std::vector<std::string>> Strings(
      absl::string_view name) const;
  absl::StatusOr<HostTensor> Tensor(absl::string_view name) const;

 private:
  absl::flat_hash_map<std::string, Attribute> values_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_ATTRIBUTES_H_
