#include "engine/ops/op_table.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "engine/ops/op_list.h"

namespace tensord {
namespace {

constexpr OpKind kListed[] = {
#define TENSORD_KIND(name) OpKind::k##name,
    TENSORD_OPS(TENSORD_KIND)
#undef TENSORD_KIND
};
static_assert(std::is_sorted(std::begin(kListed), std::end(kListed)),
              "op_list.h: keep the list in the order of OpKind");

struct OpTable {
  OpDef defs[std::size(kListed)];
  std::array<const OpDef*, kOpKindCount> by_kind;  // null: no definition
};

const OpTable& Table() {
  static const OpTable* const table = [] {
    auto* built = new OpTable{{
#define TENSORD_ROW(name) name##Def(),
                                  TENSORD_OPS(TENSORD_ROW)
#undef TENSORD_ROW
                              },
                              {}};
    for (const OpDef& def : built->defs) {
      built->by_kind[static_cast<size_t>(def.op)] = &def;
    }
    return built;
  }();
  return *table;
}

}  // namespace

absl::Span<const OpDef> OpDefs() { return Table().defs; }

const OpDef* FindOpDef(OpKind op) {
  return Table().by_kind[static_cast<size_t>(op)];
}

}  // namespace tensord
