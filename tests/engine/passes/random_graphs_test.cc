#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "backends/cpu/cpu_backend.h"
#include "backends/cpu/host_worker_pool.h"
#include "engine/passes/pass_names.h"
#include "gtest/gtest.h"
#include "tests/engine/passes/random_graph.h"
#include "tests/support/execution_rig.h"
#include "tests/support/matchers.h"

// Graphs by chance: what all passes make of one gives what it gives itself.
//
// TENSORD_RANDOM_GRAPHS says how many, TENSORD_RANDOM_SEED the first one's
// seed; a failure names its own.

namespace tensord {
namespace {

int64_t NumberFrom(const char* variable, int64_t otherwise) {
  int64_t number = 0;
  const char* text = std::getenv(variable);
  return text != nullptr && absl::SimpleAtoi(text, &number) ? number
                                                            : otherwise;
}

class RandomGraphsTest : public testing::Test {
 protected:
  using Passes = std::vector<std::string>;

  static Passes AllPasses() {
    return {std::begin(kOptionalPasses), std::end(kOptionalPasses)};
  }

  // About a third of the passes.
  static Passes Some(int64_t seed) {
    std::mt19937_64 random(static_cast<uint64_t>(seed));
    Passes some;
    for (const std::string& pass : AllPasses()) {
      if (random() % 3 == 0) some.push_back(pass);
    }
    return some;
  }

  absl::StatusOr<std::vector<TestTensor>> Run(const RandomGraph& made,
                                              Passes disabled) {
    rig_.options().disabled_passes = {disabled.begin(), disabled.end()};
    return rig_.Outputs(made.graph, made.inputs);
  }

  // Nothing where they agree.
  static std::string Difference(const TestTensor& a, const TestTensor& b,
                                bool is_quantized) {
    if (a.dtype != b.dtype || !(a.shape == b.shape)) {
      return absl::StrCat("shape ", a.shape.ToString(), " vs ",
                          b.shape.ToString());
    }
    // A dozen operators in a row, each of which rounds; a tie may go to the
    // next step.
    const double absolute = is_quantized ? 1.01 * kQuantum : 2e-5;
    for (int64_t i = 0; i < a.shape.element_count(); ++i) {
      const double x = a.At(i);
      const double y = b.At(i);
      if ((std::isnan(x) && std::isnan(y)) || x == y) continue;
      if (std::abs(x - y) <= absolute + 1e-4 * std::abs(y)) continue;
      return absl::StrCat("element ", i, " of ", a.shape.ToString(), ": ", x,
                          " vs ", y);
    }
    return "";
  }

  // What is wrong with all passes but those, "" for nothing.
  std::string Check(const RandomGraph& made, const Passes& disabled,
                    const absl::StatusOr<std::vector<TestTensor>>& plain) {
    const auto passed = Run(made, disabled);
    if (passed.status().code() != plain.status().code()) {
      return absl::StrCat("with passes: ", passed.status().ToString(),
                          "; without: ", plain.status().ToString());
    }
    if (!passed.ok()) return "";
    if (passed->size() != plain->size()) return "another number of outputs";
    for (size_t i = 0; i < plain->size(); ++i) {
      std::string difference =
          Difference((*passed)[i], (*plain)[i], made.is_quantized);
      if (!difference.empty()) {
        return absl::StrCat("output ", i, ", ", difference);
      }
    }
    return "";
  }

  // The passes without which the difference goes away.
  std::string Culprits(const RandomGraph& made,
                       const absl::StatusOr<std::vector<TestTensor>>& plain) {
    std::string culprits;
    for (const std::string& pass : AllPasses()) {
      if (Check(made, {pass}, plain).empty()) {
        absl::StrAppend(&culprits, " ", pass);
      }
    }
    return culprits;
  }

  HostWorkerPool workers_{2};
  std::unique_ptr<Backend> backend_ =
      MakeCpuBackend({.workers = &workers_}, {});
  ExecutionRig rig_{*backend_, &workers_};
};

TEST_F(RandomGraphsTest, AllPassesAndSomeGiveWhatNoneGives) {
  const int64_t first = NumberFrom("TENSORD_RANDOM_SEED", 1);
  const int64_t count = NumberFrom("TENSORD_RANDOM_GRAPHS", 400);
  int64_t answered = 0;
  for (int64_t seed = first; seed < first + count; ++seed) {
    const RandomGraph made = MakeRandomGraph(static_cast<uint64_t>(seed));
    const auto plain = Run(made, AllPasses());
    answered += plain.ok() ? 1 : 0;
    std::string problem = Check(made, {}, plain);
    if (problem.empty()) problem = Check(made, Some(seed), plain);
    if (problem.empty()) continue;
    ADD_FAILURE() << "TENSORD_RANDOM_SEED=" << seed << ": " << problem
                  << "\nright without any of:" << Culprits(made, plain) << "\n"
                  << made.text;
  }
  // The generator makes graphs that run, or it tests nothing.
  EXPECT_GT(answered, count * 95 / 100);
}

}  // namespace
}  // namespace tensord
