#include "tests/engine/passes/random_graph.h"

#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/engine/passes/random_patterns.h"

namespace tensord {
namespace {

class Maker : public RandomPatterns {
 public:
  using RandomPatterns::RandomPatterns;

  RandomGraph Write() {
    AddInputs();
    const int steps = 2 + Draw(7);
    for (int i = 0; i < steps; ++i) values_.push_back(Step(Any()));
    if (Draw(5) == 0) {
      values_.push_back(Quantized(Any()));
      result_.is_quantized = true;
    }
    result_.graph.Output(values_.back().name);
    // Values inside a pattern that somebody else sees.
    for (int i = Draw(3); i > 0 && !result_.is_quantized; --i) {
      const Value& seen = Pick(made_);
      if (seen.name != values_.back().name && names_.insert(seen.name).second) {
        result_.graph.Output(seen.name);
      }
    }
    return std::move(result_);
  }

 private:
  // Mostly the newest, so that chains come about.
  Value Any() {
    if (!made_.empty() && Draw(10) == 0) return Pick(made_);
    return Draw(3) != 0 ? values_.back() : Pick(values_);
  }

  void AddInputs() {
    static const std::vector<Extents> kShapes = {
        {2, 5, 16},   {1, 7, 8},    {3, 8},       {4, 16},       {1, 8, 6, 6},
        {2, 4, 9, 7}, {1, 8, 5, 5}, {2, 3, 4, 8}, {16},          {1, 1, 8},
        {2, 17, 8},   {1, 16},      {2, 8, 1, 1}, {1, 3, 12, 12}};
    const int count = 1 + Draw(2);
    const Extents extents = Pick(kShapes);
    for (int i = 0; i < count; ++i) {
      Value input{absl::StrCat("x", i),
                  i == 0 || Draw(2) == 0 ? extents : Pick(kShapes)};
      if (Draw(25) == 0) input.extents[0] = 0;
      std::vector<TestGraph::Extent> declared;
      for (size_t d = 0; d < input.extents.size(); ++d) {
        if (d == 0 && Draw(3) == 0) {
          declared.push_back(i == 0 ? "N" : "M");
        } else {
          declared.push_back(input.extents[d]);
        }
      }
      result_.graph.Input(input.name, DType::kFloat32, declared);
      result_.inputs.push_back(Random(input.extents, 1));
      values_.push_back(std::move(input));
    }
  }

  Value Step(const Value& x) {
    switch (Draw(12)) {
      case 0:
      case 1:
        return Activation(x);
      case 2:
        return Arithmetic(x);
      case 3:
        return Draw(2) == 0 ? GeluByErf(x) : GeluByTanh(x);
      case 4:
        if (x.rank() >= 1) return LayerNorm(x);
        break;
      case 5:
      case 6:
        if (x.rank() >= 2) return Matrix(x);
        break;
      case 7:
        if (x.rank() == 3) return Attention(x);
        if (x.rank() == 4) return Convolution(x);
        break;
      case 8:
        if (x.rank() == 4) return Image(x);
        break;
      case 9:
      case 10:
        return Movement(x);
      case 11:
        if (x.rank() >= 1) return Reduction(x);
        break;
    }
    return Activation(x);
  }

  std::set<std::string> names_;  // of outputs beside the last
};

}  // namespace

RandomGraph MakeRandomGraph(uint64_t seed) { return Maker(seed).Write(); }

}  // namespace tensord
