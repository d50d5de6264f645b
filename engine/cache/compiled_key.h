#ifndef TENSORD_ENGINE_CACHE_COMPILED_KEY_H_
#define TENSORD_ENGINE_CACHE_COMPILED_KEY_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "backends/api/device_id.h"
#include "backends/api/shape.h"
#include "engine/cache/loaded_graph.h"
#include "engine/exec/execution.h"

namespace tensord {

// What a compiled graph was compiled for: which graph, by the hash of its
// bytes, for which input shapes, on which device. Neither an address nor the
// shapes alone would do: an address is given out again, and two graphs of the
// same shapes have different weights.
// Threading and ownership: a plain value.
struct CompiledKey {
  GraphId graph_id;
  DeviceId device;
  std::vector<Shape> input_shapes;
};

// The same, borrowed, so that an execution is looked up without a copy.
// Ownership: borrows all of it.
class CompiledKeyView {
 public:
  CompiledKeyView(absl::string_view graph_id, DeviceId device,
                  absl::Span<const Shape> shapes)
      : CompiledKeyView(graph_id, device, shapes.data(), sizeof(Shape),
                        shapes.size()) {}
  CompiledKeyView(absl::string_view graph_id, DeviceId device,
                  absl::Span<const HostValue> inputs)
      : CompiledKeyView(graph_id, device,
                        inputs.empty() ? nullptr : &inputs.front().shape,
                        sizeof(HostValue), inputs.size()) {}
  // NOLINTNEXTLINE: a key is its own view
  CompiledKeyView(const CompiledKey& key)
      : CompiledKeyView(key.graph_id, key.device, key.input_shapes) {}

  CompiledKey ToKey() const {
    CompiledKey key{GraphId(graph_id_), device_, {}};
    for (size_t i = 0; i < count_; ++i) key.input_shapes.push_back(shape(i));
    return key;
  }

  friend bool operator==(const CompiledKeyView& a, const CompiledKeyView& b) {
    if (a.count_ != b.count_ || a.device_ != b.device_ ||
        a.graph_id_ != b.graph_id_) {
      return false;
    }
    for (size_t i = 0; i < a.count_; ++i) {
      if (a.shape(i) != b.shape(i)) return false;
    }
    return true;
  }
  template <typename H>
  friend H AbslHashValue(H h, const CompiledKeyView& key) {
    for (size_t i = 0; i < key.count_; ++i) {
      h = H::combine(std::move(h), key.shape(i));
    }
    return H::combine(std::move(h), key.graph_id_, key.device_, key.count_);
  }

 private:
  CompiledKeyView(absl::string_view graph_id, DeviceId device,
                  const Shape* first, size_t stride, size_t count)
      : graph_id_(graph_id),
        device_(device),
        first_(reinterpret_cast<const std::byte*>(first)),
        stride_(stride),
        count_(count) {}

  const Shape& shape(size_t i) const {
    return *reinterpret_cast<const Shape*>(first_ + i * stride_);
  }

  absl::string_view graph_id_;
  DeviceId device_;
  const std::byte* first_;  // shapes lie `stride_` bytes apart
  size_t stride_;
  size_t count_;
};

// Lets a map from CompiledKey be asked by a view.
struct CompiledKeyHash {
  using is_transparent = void;
  size_t operator()(const CompiledKeyView& key) const {
    return absl::HashOf(key);
  }
};
struct CompiledKeyEqual {
  using is_transparent = void;
  bool operator()(const CompiledKeyView& a, const CompiledKeyView& b) const {
    return a == b;
  }
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_CACHE_COMPILED_KEY_H_
