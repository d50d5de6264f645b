#include "server/rpc/graph_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace tensord {
namespace {

TEST(GraphFactsTable, KeepsTheFirstFactsOfAGraph) {
  GraphFactsTable table;
  const auto known = [](const std::string&) { return true; };
  auto first = std::make_shared<GraphFacts>();
  EXPECT_EQ(table.Insert("a", first, known), first);
  EXPECT_EQ(table.Insert("a", std::make_shared<GraphFacts>(), known), first);
  EXPECT_EQ(table.Find("a"), first);
  table.Erase("a");
  EXPECT_EQ(table.Find("a"), nullptr);
}

TEST(GraphFactsTable, ForgetsGraphsThatTheEngineDropped) {
  GraphFactsTable table;
  int asked = 0;
  const auto known = [&](const std::string& id) {
    ++asked;
    return id == "graph0";
  };
  for (int i = 0; i < 5000; ++i) {
    table.Insert("graph" + std::to_string(i), std::make_shared<GraphFacts>(),
                 known);
  }
  EXPECT_NE(table.Find("graph0"), nullptr);
  EXPECT_EQ(table.Find("graph1"), nullptr);
  EXPECT_NE(table.Find("graph4999"), nullptr);
  EXPECT_LT(asked, 10'000);  // not at each insertion
}

}  // namespace
}  // namespace tensord
