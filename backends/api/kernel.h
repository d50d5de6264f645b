#ifndef TENSORD_BACKENDS_API_KERNEL_H_
#define TENSORD_BACKENDS_API_KERNEL_H_

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "backends/api/dtype.h"
#include "backends/api/launch_context.h"
#include "backends/api/layout.h"
#include "backends/api/op_kind.h"
#include "backends/api/op_params.h"
#include "backends/api/precision.h"
#include "backends/api/storage.h"

namespace tensord {

class Device;

// One node as a kernel sees it before it runs: what `accepts`,
// `workspace_bytes`, `prepare` and `cost` decide by.
//
// Threading: immutable. Ownership: borrows everything for the call's length.
struct NodeSite {
  OpKind op;

  // Inputs in order, then outputs; kUndefined marks an absent optional operand.
  absl::Span<const DType> dtypes;
  int input_count = 0;

  // Parallel to dtypes; an absent operand has a default layout. Empty as a
  // whole when the shapes are not known yet: `accepts` then judges by the rest
  // alone. An output with data-dependent extents has its upper bounds here.
  absl::Span<const Layout> layouts;

  // Per input: its bytes (dense, row-major, in host memory) where the value is
  // known before the run (a weight, a computed shape), else null. Empty as a
  // whole when nothing is known.
  absl::Span<const std::byte* const> host_constants;

  const OpParams& params;

  // What the graph's client allows: a kernel that rounds its factors accepts
  // only nodes whose precision covers that.
  Precision precision = Precision::kStrict;

  DType input_dtype(int i) const { return dtypes[i]; }
  DType output_dtype(int i) const { return dtypes[input_count + i]; }
  const Layout& input(int i) const { return layouts[i]; }
  const Layout& output(int i) const { return layouts[input_count + i]; }
  bool has_input(int i) const {
    return i < input_count && dtypes[i] != DType::kUndefined;
  }
  // Null when the value is not known.
  const std::byte* host_constant(int i) const {
    return i < static_cast<int>(host_constants.size()) ? host_constants[i]
                                                       : nullptr;
  }
};

// What a kernel made of one node ahead of its runs: packed weights, decoded
// arguments, a pipeline. Immutable once made; many lanes read it at once.
// Ownership: the compiled node's; a backend's derived class frees its parts.
class KernelState {
 public:
  virtual ~KernelState() = default;

  // Host bytes beyond the object that go when it goes; what it shares with
  // other states is counted where that is kept.
  virtual uint64_t footprint_bytes() const { return 0; }
};

// The operands of one launch. Borrows everything; on an asynchronous lane,
// until the lane is done. `layouts` is the inputs' followed by the outputs'.
struct KernelCall {
  const LaunchContext& context;
  absl::Span<const StorageView> inputs;
  absl::Span<const StorageView> outputs;
  absl::Span<const Layout> layouts;
  const OpParams& params;
  const KernelState* state;  // what `prepare` made; null without one

  const Layout& input_layout(int i) const { return layouts[i]; }
  const Layout& output_layout(int i) const {
    return layouts[inputs.size() + i];
  }
  bool has_input(int i) const {
    return i < static_cast<int>(inputs.size()) && inputs[i].is_present();
  }
  // The first element of an operand in host memory, the layout's offset
  // counted.
  template <typename T>
  const T* input(int i) const {
    return reinterpret_cast<const T*>(inputs[i].address()) + layouts[i].offset;
  }
  template <typename T>
  T* output(int i) const {
    return reinterpret_cast<T*>(outputs[i].address()) + output_layout(i).offset;
  }
};

// The dtypes that a kernel takes. The last input and the last output stand for
// any number of further ones, so that variadic operators need one row.
struct DTypeSignature {
  static constexpr int kMaxListed = 8;

  std::array<DType, kMaxListed> inputs{};
  std::array<DType, kMaxListed> outputs{};
  uint8_t input_count = 0;
  uint8_t output_count = 0;
  bool any = false;

  // An absent operand (kUndefined) matches everything, and so does a listed
  // kUndefined: the kernel does not read that operand.
  bool Matches(absl::Span<const DType> input_dtypes,
               absl::Span<const DType> output_dtypes) const;
};

// Inputs of these dtypes give outputs of those.
constexpr DTypeSignature Takes(std::initializer_list<DType> inputs,
                               std::initializer_list<DType> outputs) {
  DTypeSignature signature;
  for (DType dtype : inputs) signature.inputs[signature.input_count++] = dtype;
  for (DType dtype : outputs) {
    signature.outputs[signature.output_count++] = dtype;
  }
  return signature;
}

// Every operand has this dtype.
constexpr DTypeSignature All(DType dtype) { return Takes({dtype}, {dtype}); }

// Whatever the operands are: for a backend that does not look at them.
constexpr DTypeSignature AnyDTypes() {
  DTypeSignature signature;
  signature.any = true;
  return signature;
}

// What a kernel can do beyond the least. The default promises nothing special.
struct KernelCaps {
  // Walks strides itself. Without it, a non-contiguous input is made contiguous
  // by a copy that the compiler plans.
  bool strided_input = false;

  // Bit i: output 0 may be the same memory as input i (when their byte sizes
  // are equal and both are contiguous). The planner then saves a slot.
  uint8_t in_place_inputs = 0;

  // Computes OpParams::epilogue as well.
  bool takes_epilogue = false;

  // Takes nodes whose ConvParams or PoolParams say channels_last.
  bool takes_channels_last = false;

  // Takes nodes whose NormalizationParams say has_skip.
  bool takes_skip = false;

  // Takes nodes whose AttentionParams say packs_qkv.
  bool takes_packed_qkv = false;

  // The same bytes in give the same bytes out, on every run.
  bool is_deterministic = true;
};

// What one launch takes, in terms that DeviceInfo's rates turn into time.
struct KernelCost {
  double flops = 0;
  double bytes = 0;
  // The share of the device's flops_per_ns that this kernel attains on this
  // node, in (0, 1].
  double efficiency = 1;
};

// One kernel: a row of a backend's table. Function pointers and names are
// constants of the backend's library.
//
// Threading: immutable; every function may be called from many threads at once.
struct KernelEntry {
  OpKind op;
  DTypeSignature dtypes;

  // Unique in the backend: a metric label, a row of ExplainGraph.
  const char* name;

  // The file that holds it, relative to the repository, or "library:name" for a
  // library's kernel. Its revision hash is Backend::KernelRevision(source).
  const char* source;

  // OK, or why not ("dilation 2 is above 1"). Null accepts every node whose
  // dtypes match.
  absl::Status (*accepts)(const NodeSite& site) = nullptr;

  // Scratch bytes for one launch. Null: none. Grows, never shrinks, with the
  // extents, since a node with data-dependent inputs is planned at their
  // bounds.
  uint64_t (*workspace_bytes)(const NodeSite& site) = nullptr;

  // The costly work ahead of the first run. Null: none. Runs on a compiler
  // thread, beside launches of earlier nodes.
  absl::StatusOr<std::unique_ptr<KernelState>> (*prepare)(
      const NodeSite& site, Device& device) = nullptr;

  // Null: bytes moved and no arithmetic.
  KernelCost (*cost)(const NodeSite& site) = nullptr;

  // Computes, or enqueues on the lane. Arguments are validated: it does not
  // check shapes again, allocates nothing, logs nothing. It does check values
  // that only the data can tell (an index out of range) and returns
  // kInvalidArgument for them.
  absl::Status (*run)(const KernelCall& call) = nullptr;

  KernelCaps caps = {};
};

// OK where the kernel's capabilities cover what passes have made of the node,
// and its `accepts` takes it; else why not. Its dtypes match.
absl::Status KernelAccepts(const KernelEntry& entry, const NodeSite& site);

}  // namespace tensord

#endif  // TENSORD_BACKENDS_API_KERNEL_H_
