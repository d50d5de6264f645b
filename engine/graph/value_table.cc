#include "engine/graph/value_table.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "engine/graph/check_definition.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"

namespace tensord {

absl::StatusOr<ValueId> ValueTable::Define(absl::string_view name,
                                           absl::string_view what,
                                           Value value) {
  const auto id = static_cast<ValueId>(graph_.values.size());
  if (!by_name_.try_emplace(std::string(name), id).second) {
    return absl::InvalidArgumentError(
        absl::StrCat("value ", Quoted(name),
                     " is defined twice; the second time as ", what));
  }
  value.name = std::string(name);
  graph_.values.push_back(std::move(value));
  return id;
}

absl::StatusOr<ValueId> ValueTable::DefineConstant(absl::string_view name,
                                                   absl::string_view what,
                                                   HostTensor tensor) {
  if (!tensor.is_present() || BitWidth(tensor.dtype()) == 0) {
    return absl::UnimplementedError(
        absl::StrCat(what, " has dtype ", DTypeName(tensor.dtype()),
                     "; constants of it are not supported"));
  }
  Value value;
  value.type = {tensor.dtype(), ToSymbolic(tensor.shape())};
  TENSORD_RETURN_IF_ERROR(CheckTensorSize(what, *value.type.shape, limits_));
  value.constant = std::move(tensor);
  return Define(name, what, std::move(value));
}

std::optional<ValueId> ValueTable::Find(absl::string_view name) const {
  const auto it = by_name_.find(name);
  if (it == by_name_.end()) return std::nullopt;
  return it->second;
}

std::string ValueTable::UnusedName(absl::string_view stem) {
  std::string name(stem);
  while (by_name_.contains(name)) {
    name = absl::StrCat(stem, "'", ++last_suffix_);
  }
  return name;
}

Dim ValueTable::ReadDim(const DimDef& def) {
  if (const auto* extent = std::get_if<int64_t>(&def)) {
    return Dim::Known(*extent);
  }
  const auto* symbol = std::get_if<std::string>(&def);
  return symbol == nullptr || symbol->empty() ? graph_.symbols.Unnamed()
                                              : graph_.symbols.Named(*symbol);
}

absl::StatusOr<SymbolicShape> ValueTable::ReadDims(absl::string_view what,
                                                   const ValueDef& def) {
  SymbolicShape shape;
  for (const DimDef& dim : *def.dims) shape.push_back(ReadDim(dim));
  TENSORD_RETURN_IF_ERROR(CheckTensorSize(what, shape, limits_));
  for (size_t i = 0; i < def.max_extents.size() && i < shape.size(); ++i) {
    const int64_t bound = def.max_extents[i];
    if (bound == SymbolTable::kUnbounded || shape[i].is_known()) continue;
    if (bound < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          what, ": dimension ", i, " is at most ", bound, ", below 0"));
    }
    graph_.symbols.LimitTo(shape[i], bound);
  }
  return shape;
}

absl::StatusOr<TensorType> ValueTable::ReadType(absl::string_view what,
                                                const ValueDef& def) {
  TensorType type;
  type.dtype = def.dtype;
  if (def.dims.has_value()) {
    TENSORD_ASSIGN_OR_RETURN(type.shape, ReadDims(what, def));
  }
  return type;
}

}  // namespace tensord
