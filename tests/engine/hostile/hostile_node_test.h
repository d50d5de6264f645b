#ifndef TENSORD_TESTS_ENGINE_HOSTILE_HOSTILE_NODE_TEST_H_
#define TENSORD_TESTS_ENGINE_HOSTILE_HOSTILE_NODE_TEST_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/engine/hostile/hostile_harness.h"

namespace tensord {

// One node at a time that asks for too much, or for what is not there. Each of
// the files that instantiate this has operators of some kind; the tests stand
// in hostile_nodes_test.cc.
class HostileNodeTest : public HostileTest,
                        public testing::WithParamInterface<HostileNode> {};

inline std::string NameOf(const testing::TestParamInfo<HostileNode>& info) {
  return info.param.name;
}

inline constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
inline constexpr int64_t kTera = int64_t{1} << 40;
inline constexpr auto kExhausted = absl::StatusCode::kResourceExhausted;

using Ints = std::vector<int64_t>;

// Operands.
inline TestTensor Vector(const Ints& values) {
  return Tensor<int64_t>({static_cast<int64_t>(values.size())}, values);
}
inline TestTensor Scalar(int64_t value) {
  return Tensor<int64_t>(Shape(), {value});
}
inline TestTensor Number(float value) {
  return TensorOf(DType::kFloat32, Shape(), {value});
}
inline const TestTensor kAbsent;

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_HOSTILE_HOSTILE_NODE_TEST_H_
