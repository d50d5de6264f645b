#ifndef TENSORD_ENGINE_GRAPH_CONSTANT_MEMO_H_
#define TENSORD_ENGINE_GRAPH_CONSTANT_MEMO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/graph/host_tensor.h"

namespace tensord {

// Constants that were made of other constants (folded weights, weights side by
// side), so that a graph that is compiled for many shapes makes each once. It
// keeps no bytes alive: what no compiled graph holds any more is made again.
//
// Threading: thread-safe; `make` runs without the lock, perhaps twice at once.
// Ownership: holds tensors weakly.
class ConstantMemo {
 public:
  // The most entries; past them nothing is kept.
  static constexpr size_t kMaxEntries = 4096;

  // What `make` makes; an absent tensor, which is not kept, when that is what
  // it makes. `operation` says all that the result depends on but the inputs'
  // bytes, which may be absent too.
  //
  // `cost`, where it is not null, is what `make` says that it cost, now or when
  // the tensor was made: who pays for what it makes pays as much for a tensor
  // that is there, so that the outcome does not depend on others' compilations.
  HostTensor Get(absl::string_view operation,
                 absl::Span<const HostTensor> inputs,
                 absl::FunctionRef<HostTensor()> make, double* cost = nullptr);

 private:
  struct Entry {
    std::vector<WeakHostTensor> inputs;
    WeakHostTensor result;
    double cost = 0;
  };
  struct Key {
    std::string operation;
    std::vector<const void*> inputs;  // their bytes

    friend bool operator==(const Key&, const Key&) = default;
    template <typename H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.operation, key.inputs);
    }
  };

  HostTensor Find(const Key& key, double* cost)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  absl::Mutex mu_;
  absl::flat_hash_map<Key, Entry> entries_ ABSL_GUARDED_BY(mu_);
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_GRAPH_CONSTANT_MEMO_H_
