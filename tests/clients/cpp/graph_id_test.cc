#include "clients/cpp/graph_id.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tensord {
namespace {

TEST(GraphId, IsThatOfTheExampleInTheApi) {
  EXPECT_EQ(GraphId(v1::GRAPH_FORMAT_ONNX, "abc", {}),
            "9d4bf5434dc6d9225aef75928e40a63ecf46da98771273646244ba2cb9ba08fa");
}

TEST(GraphId, DependsOnEachOptionThatChangesResults) {
  std::vector<v1::CompileOptions> variants(5);
  variants[1].set_precision(v1::PRECISION_ALLOW_TF32);
  variants[2].set_deterministic(true);
  variants[3].add_disabled_passes("fuse");
  variants[4].add_disabled_passes("fuse");
  variants[4].add_disabled_passes("layout");
  std::set<std::string> ids;
  for (const v1::CompileOptions& compile : variants) {
    ids.insert(GraphId(v1::GRAPH_FORMAT_ONNX, "abc", compile));
    ids.insert(GraphId(v1::GRAPH_FORMAT_TENSORD, "abc", compile));
  }
  EXPECT_EQ(ids.size(), 2 * variants.size());
}

TEST(GraphId, DependsOnNothingElse) {
  const std::string id = GraphId(v1::GRAPH_FORMAT_ONNX, "abc", {});
  v1::CompileOptions compile;
  compile.set_precision(v1::PRECISION_STRICT);
  compile.set_device("cpu:0");
  compile.add_shape_hints();
  EXPECT_EQ(GraphId(v1::GRAPH_FORMAT_ONNX, "abc", compile), id);
  v1::CompileOptions one_order, other_order;
  for (const char* pass : {"b", "a", "b"}) one_order.add_disabled_passes(pass);
  for (const char* pass : {"a", "b"}) other_order.add_disabled_passes(pass);
  EXPECT_EQ(GraphId(v1::GRAPH_FORMAT_ONNX, "abc", one_order),
            GraphId(v1::GRAPH_FORMAT_ONNX, "abc", other_order));
}

}  // namespace
}  // namespace tensord
