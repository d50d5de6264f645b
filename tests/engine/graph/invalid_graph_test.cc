#include "engine/graph/invalid_graph.h"

#include <gtest/gtest.h>

#include "engine/graph/node_error.h"
#include "engine/limit_exceeded.h"

namespace tensord {
namespace {

TEST(InvalidGraphTest, PlacesAreToldInTheTextAndInTheDetails) {
  const absl::Status status =
      AtNode("proj\n", "MatMul",
             AtAttribute("axis", absl::InvalidArgumentError("is 7 of 2")));
  EXPECT_EQ(status.message(),
            "node 'proj\\n' (MatMul): attribute 'axis': is 7 of 2");
  const std::optional<InvalidGraphDetails> details =
      InvalidGraphDetails::FromStatus(status);
  ASSERT_TRUE(details.has_value());
  EXPECT_EQ(details->node, "proj\\n");
  EXPECT_EQ(details->op, "MatMul");
  EXPECT_EQ(details->attribute, "axis");
  EXPECT_EQ(details->value, "");
  EXPECT_EQ(details->description, "is 7 of 2");
}

TEST(InvalidGraphTest, AGraphsOwnErrorKeepsItsText) {
  const absl::Status status =
      AtGraph(absl::InvalidArgumentError("graph has 0 outputs"));
  EXPECT_EQ(status.message(), "graph has 0 outputs");
  EXPECT_EQ(InvalidGraphDetails::FromStatus(status)->description,
            "graph has 0 outputs");
  // A place that is known already stays.
  const absl::Status placed = AtGraph(
      AtValue("input", "x", absl::InvalidArgumentError("has no dtype")));
  EXPECT_EQ(InvalidGraphDetails::FromStatus(placed)->value, "x");
}

TEST(InvalidGraphTest, OtherCodesHaveNoSuchDetailsAndKeepTheirOwn) {
  EXPECT_TRUE(AtNode("n", "Relu", absl::OkStatus()).ok());
  const absl::Status limit =
      AtNode("n", "Relu",
             LimitDetails{.limit = "max_rank", .maximum = 2}.ToStatus("rank"));
  EXPECT_FALSE(InvalidGraphDetails::FromStatus(limit).has_value());
  EXPECT_EQ(LimitDetails::FromStatus(limit)->limit, "max_rank");
  EXPECT_FALSE(InvalidGraphDetails::FromStatus(absl::InvalidArgumentError("x"))
                   .has_value());
}

}  // namespace
}  // namespace tensord
