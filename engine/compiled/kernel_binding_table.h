#ifndef TENSORD_ENGINE_COMPILED_KERNEL_BINDING_TABLE_H_
#define TENSORD_ENGINE_COMPILED_KERNEL_BINDING_TABLE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "backends/api/backend.h"
#include "backends/api/kernel.h"
#include "engine/compiled/no_backend_for_op.h"

namespace tensord {

// A kernel of one backend, bound to its operator.
struct KernelBinding {
  BackendId backend{};
  const KernelEntry* entry = nullptr;
  uint64_t revision_hash = 0;  // 0: not tracked
};

// (op, dtypes, backend) -> the kernels registered for that triple, in order:
// siblings. Filled once from the backends' tables, before anything compiles.
//
// Threading: AddBackend before the table is shared; immutable afterwards.
// Ownership: borrows the backends' rows; backends outlive the table.
class KernelBindingTable {
 public:
  // All rows of a backend. kInvalidArgument, and nothing added, when a row
  // lacks a name or `run`, when two rows share a name, or when the backend is
  // there already: a broken table is found at start, not at a request.
  absl::Status AddBackend(const Backend& backend);

  // The kernels of an operator on a backend, all dtypes, in order.
  absl::Span<const KernelBinding> Kernels(OpKind op, BackendId backend) const;

  // The siblings for these dtypes, in order.
  std::vector<KernelBinding> Siblings(OpKind op, absl::Span<const DType> dtypes,
                                      int input_count, BackendId backend) const;

  // Whether any backend has a kernel of the operator.
  bool HasOp(OpKind op) const;

  // What there is for an operator instead of what was asked for, without the
  // `declined` rows.
  NoBackendForOp Diagnose(OpKind op, absl::Span<const DType> dtypes,
                          int input_count, BackendId backend) const;

  void ForEach(absl::FunctionRef<void(const KernelBinding&)> visit) const;

 private:
  using PerBackend = std::array<std::vector<KernelBinding>, kBackendCount>;

  std::array<PerBackend, kOpKindCount> bindings_;
  std::array<bool, kBackendCount> has_backend_{};
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_KERNEL_BINDING_TABLE_H_
