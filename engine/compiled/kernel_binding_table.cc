#include "engine/compiled/kernel_binding_table.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

absl::Status CheckRow(const KernelEntry& entry, absl::string_view backend) {
  if (entry.name == nullptr || *entry.name == '\0') {
    return absl::InvalidArgumentError(
        absl::StrCat("a kernel of ", OpKindName(entry.op), " on backend ",
                     backend, " has no name"));
  }
  if (entry.run == nullptr || entry.source == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("kernel ", entry.name, " of backend ", backend,
                     " lacks its function or its source"));
  }
  return absl::OkStatus();
}

bool Matches(const KernelBinding& binding, absl::Span<const DType> dtypes,
             int input_count) {
  return binding.entry->dtypes.Matches(dtypes.first(input_count),
                                       dtypes.subspan(input_count));
}

NoBackendForOp::Supported SupportedRow(const KernelBinding& binding) {
  const DTypeSignature& signature = binding.entry->dtypes;
  NoBackendForOp::Supported row;
  row.backend = binding.backend;
  row.any_dtypes = signature.any;
  row.input_count = signature.input_count;
  row.dtypes.assign(signature.inputs.begin(),
                    signature.inputs.begin() + signature.input_count);
  row.dtypes.insert(row.dtypes.end(), signature.outputs.begin(),
                    signature.outputs.begin() + signature.output_count);
  return row;
}

}  // namespace

absl::Status KernelBindingTable::AddBackend(const Backend& backend) {
  const auto id = static_cast<size_t>(backend.id());
  if (has_backend_[id]) {
    return absl::InvalidArgumentError(absl::StrCat(
        "backend ", BackendName(backend.id()), " is in the table already"));
  }
  absl::flat_hash_set<std::string> names;
  for (const KernelEntry& entry : backend.kernels()) {
    if (absl::Status status = CheckRow(entry, BackendName(backend.id()));
        !status.ok()) {
      return status;
    }
    if (!names.insert(entry.name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("backend ", BackendName(backend.id()),
                       " has two kernels named ", entry.name));
    }
  }
  for (const KernelEntry& entry : backend.kernels()) {
    bindings_[static_cast<size_t>(entry.op)][id].push_back(
        {backend.id(), &entry, backend.KernelRevision(entry.source)});
  }
  has_backend_[id] = true;
  return absl::OkStatus();
}

absl::Span<const KernelBinding> KernelBindingTable::Kernels(
    OpKind op, BackendId backend) const {
  return bindings_[static_cast<size_t>(op)][static_cast<size_t>(backend)];
}

std::vector<KernelBinding> KernelBindingTable::Siblings(
    OpKind op, absl::Span<const DType> dtypes, int input_count,
    BackendId backend) const {
  std::vector<KernelBinding> siblings;
  for (const KernelBinding& binding : Kernels(op, backend)) {
    if (Matches(binding, dtypes, input_count)) siblings.push_back(binding);
  }
  return siblings;
}

bool KernelBindingTable::HasOp(OpKind op) const {
  for (const auto& kernels : bindings_[static_cast<size_t>(op)]) {
    if (!kernels.empty()) return true;
  }
  return false;
}

NoBackendForOp KernelBindingTable::Diagnose(OpKind op,
                                            absl::Span<const DType> dtypes,
                                            int input_count,
                                            BackendId backend) const {
  NoBackendForOp detail;
  detail.op = std::string(OpKindName(op));
  detail.backend = backend;
  detail.dtypes.assign(dtypes.begin(), dtypes.end());
  detail.input_count = input_count;
  for (const auto& kernels : bindings_[static_cast<size_t>(op)]) {
    if (kernels.empty()) continue;
    detail.available_backends.push_back(kernels.front().backend);
    for (const KernelBinding& binding : kernels) {
      NoBackendForOp::Supported row = SupportedRow(binding);
      // Siblings for the same dtypes are one combination.
      bool is_listed = false;
      for (const auto& other : detail.supported) {
        is_listed |= other.backend == row.backend && other.dtypes == row.dtypes;
      }
      if (is_listed) continue;
      if (detail.supported.size() == NoBackendForOp::kMaxRows) {
        detail.is_truncated = true;
        break;
      }
      detail.supported.push_back(std::move(row));
    }
  }
  return detail;
}

void KernelBindingTable::ForEach(
    absl::FunctionRef<void(const KernelBinding&)> visit) const {
  for (const PerBackend& backends : bindings_) {
    for (const auto& kernels : backends) {
      for (const KernelBinding& binding : kernels) visit(binding);
    }
  }
}

}  // namespace tensord
