#ifndef TENSORD_TOOLS_CONFORMANCE_CASE_LIST_H_
#define TENSORD_TOOLS_CONFORMANCE_CASE_LIST_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace tensord::conformance {

// One case: a small model with inputs and the outputs that it must have.
struct Case {
  std::string name;
  // The folder that holds it, below that of all cases.
  std::string folder;
  // The operator that it is about; "(network)" for many.
  std::string op;
  // "ai.onnx:17", as far as the list tells.
  std::string opset;
  // 1, 2 or 3; 0 where the list tells none.
  int tier = 0;
  // The rule of its comparison, as ParseComparisonRule() takes it.
  std::string tolerance;
  // "float16", "expanded", ...
  std::vector<std::string> flags;

  std::string Id() const { return folder + "/" + name; }
};

// Reads a LIST.tsv: a line of titles, of which `case` and `folder` must be
// there, then one line a case. kInvalidArgument names the line that is wrong.
absl::StatusOr<std::vector<Case>> ParseCaseList(absl::string_view text);

// The cases of a folder without a list: every folder two levels below `root`
// that has a model.onnx, ordered by id. The operator is that of a model with
// one node, else "(network)"; operators whose outputs are random or need a
// wider tolerance are known by name. kInvalidArgument when there is none.
absl::StatusOr<std::vector<Case>> FindCases(const std::string& root);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_CASE_LIST_H_
