#include "engine/ops/op_table.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tensord {
namespace {

TEST(OpTableTest, IsSortedByKindAndEveryRowIsWhole) {
  const absl::Span<const OpDef> defs = OpDefs();
  ASSERT_FALSE(defs.empty());
  for (size_t i = 0; i < defs.size(); ++i) {
    SCOPED_TRACE(std::string(OpKindName(defs[i].op)));
    if (i > 0) {
      EXPECT_LT(defs[i - 1].op, defs[i].op);
    }
    EXPECT_EQ(FindOpDef(defs[i].op), &defs[i]);
    EXPECT_EQ(defs[i].infer == nullptr, defs[i].is_flow);
    EXPECT_LE(defs[i].min_inputs, defs[i].max_inputs);
    EXPECT_LE(defs[i].min_outputs, defs[i].max_outputs);
  }
}

TEST(OpTableTest, AKindWithoutADefinitionIsNull) {
  EXPECT_EQ(FindOpDef(OpKind::kImageDecoder), nullptr);
}

}  // namespace
}  // namespace tensord
