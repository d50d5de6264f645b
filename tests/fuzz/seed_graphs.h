#ifndef TENSORD_TESTS_FUZZ_SEED_GRAPHS_H_
#define TENSORD_TESTS_FUZZ_SEED_GRAPHS_H_

#include <string>
#include <vector>

#include "engine/graph/graph_def.h"

namespace tensord {

struct SeedGraph {
  std::string name;  // a file name
  GraphDef def;
};

// Small graphs that are right, with every kind of attribute, operand and
// constant among them: what the fuzzers start from.
std::vector<SeedGraph> SeedGraphs();

}  // namespace tensord

#endif  // TENSORD_TESTS_FUZZ_SEED_GRAPHS_H_
