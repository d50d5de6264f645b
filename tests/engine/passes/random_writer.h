#ifndef TENSORD_TESTS_ENGINE_PASSES_RANDOM_WRITER_H_
#define TENSORD_TESTS_ENGINE_PASSES_RANDOM_WRITER_H_

#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/passes/random_graph.h"

namespace tensord {

// A float32 value of a random graph.
struct RandomValue {
  std::string name;
  std::vector<int64_t> extents;

  int rank() const { return static_cast<int>(extents.size()); }
  int64_t last() const { return extents.back(); }
  int64_t count() const {
    return std::accumulate(extents.begin(), extents.end(), int64_t{1},
                           std::multiplies<>());
  }
};

// Writes nodes and constants of a random graph, and draws lots.
//
// Threading: one thread. Ownership: owns what it makes.
class RandomWriter {
 public:
  using Value = RandomValue;
  using Extents = std::vector<int64_t>;
  using Attributes = std::vector<std::pair<std::string, Attribute>>;

  explicit RandomWriter(uint64_t seed) : random_(seed) {}

 protected:
  int Draw(int count) {
    return static_cast<int>(random_() % static_cast<uint64_t>(count));
  }
  // In [0, 1).
  double Uniform() { return static_cast<double>(random_() % 4096) / 4096; }

  template <typename T>
  const T& Pick(const std::vector<T>& choices) {
    return choices[Draw(static_cast<int>(choices.size()))];
  }

  // Elements in shift +- scale.
  TestTensor Random(const Extents& extents, double scale, double shift = 0);

  std::string Fresh(const char* prefix);
  Value Constant(const Extents& extents, double scale, double shift = 0);
  Value Scalar(double element);
  // The name of a constant list.
  std::string Integers(const Extents& integers);

  void Add(const std::string& op, const std::vector<std::string>& inputs,
           const std::vector<std::string>& outputs, Attributes attributes = {});
  Value Node(const std::string& op, const std::vector<std::string>& inputs,
             Extents extents, Attributes attributes = {});
  Value Unary(const std::string& op, const Value& x,
              Attributes attributes = {});
  // Of a's and b's order either, where `may_turn`.
  Value Binary(const std::string& op, const Value& a, const Value& b,
               const Extents& extents, bool may_turn = false);
  // Of a's extents, in either order.
  Value Sum(const Value& a, const Value& b) {
    return Binary("Add", a, b, a.extents, true);
  }
  Value Product(const Value& a, const Value& b) {
    return Binary("Mul", a, b, a.extents, true);
  }

  RandomGraph result_;
  std::vector<Value> values_;  // inputs and results of steps
  std::vector<Value> made_;    // of every node, those inside a pattern as well

 private:
  std::mt19937_64 random_;
  int name_count_ = 0;
};

}  // namespace tensord

#endif  // TENSORD_TESTS_ENGINE_PASSES_RANDOM_WRITER_H_
