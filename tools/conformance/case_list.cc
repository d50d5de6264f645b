#include "tools/conformance/case_list.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "onnx/onnx.pb.h"
#include "tools/tensordctl/files.h"

namespace tensord::conformance {
namespace {

namespace fs = std::filesystem;

using Titles = absl::flat_hash_map<std::string, size_t>;

absl::StatusOr<Case> ParseLine(const Titles& titles, absl::string_view line) {
  const std::vector<absl::string_view> cells = absl::StrSplit(line, '\t');
  const auto cell = [&](absl::string_view title) {
    const auto found = titles.find(title);
    return found != titles.end() && found->second < cells.size()
               ? std::string(cells[found->second])
               : std::string();
  };
  Case result{.name = cell("case"),
              .folder = cell("folder"),
              .op = cell("op"),
              .opset = cell("opset"),
              .tolerance = cell("tolerance")};
  if (result.name.empty() || result.folder.empty()) {
    return absl::InvalidArgumentError("it has no case or no folder");
  }
  // Both become part of a path.
  for (const std::string& part : {result.name, result.folder}) {
    if (part.find('/') != std::string::npos || part.front() == '.') {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", part, "\" is no name of a folder"));
    }
  }
  const std::string tier = cell("tier");
  if (!tier.empty() && !absl::SimpleAtoi(tier, &result.tier)) {
    return absl::InvalidArgumentError(absl::StrCat("tier \"", tier, "\""));
  }
  result.flags = absl::StrSplit(cell("flags"), ',', absl::SkipEmpty());
  return result;
}

// What a list would say of these operators.
std::string KnownTolerance(const std::string& op, const std::string& name) {
  static const absl::flat_hash_set<std::string> kRandom = {
      "Bernoulli",        "Multinomial",   "RandomNormal",
      "RandomNormalLike", "RandomUniform", "RandomUniformLike"};
  if (kRandom.contains(op) || name.find("bernoulli") != std::string::npos ||
      name.find("training_dropout") != std::string::npos) {
    return "shape+dtype only (random values)";
  }
  if (op == "DFT" || op == "STFT") return "atol=1e-3";
  if (op == "MaxUnpool" && name.find("output_shape") != std::string::npos) {
    return "disputed: other runtimes differ";
  }
  if (name.find("cubic_align_corners") != std::string::npos &&
      name.find("downsample") != std::string::npos) {
    return "disputed: other runtimes differ";
  }
  return "";
}

void Describe(const std::string& model_path, Case& described) {
  described.op = "(network)";
  const auto bytes = ctl::ReadFile(model_path);
  onnx::ModelProto model;
  if (bytes.ok() && model.ParseFromString(*bytes)) {
    if (model.graph().node_size() == 1) {
      described.op = model.graph().node(0).op_type();
    }
    std::vector<std::string> opsets;
    for (const auto& opset : model.opset_import()) {
      opsets.push_back(
          absl::StrCat(opset.domain().empty() ? "ai.onnx" : opset.domain(), ":",
                       opset.version()));
    }
    described.opset = absl::StrJoin(opsets, ",");
  }
  described.tolerance = KnownTolerance(described.op, described.name);
}

}  // namespace

absl::StatusOr<std::vector<Case>> ParseCaseList(absl::string_view text) {
  std::vector<Case> cases;
  Titles titles;
  absl::flat_hash_set<std::string> ids;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (line.empty()) continue;
    if (titles.empty()) {
      const std::vector<std::string> names = absl::StrSplit(line, '\t');
      for (size_t i = 0; i < names.size(); ++i) titles[names[i]] = i;
      if (!titles.contains("case") || !titles.contains("folder")) {
        return absl::InvalidArgumentError(
            "line 1: no titles \"case\" and \"folder\"");
      }
      continue;
    }
    auto parsed = ParseLine(titles, line);
    if (parsed.ok() && !ids.insert(parsed->Id()).second) {
      parsed = absl::InvalidArgumentError("it is there twice");
    }
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", line_number, ": ", parsed.status().message()));
    }
    cases.push_back(*std::move(parsed));
  }
  if (cases.empty()) return absl::InvalidArgumentError("it lists no case");
  return cases;
}

absl::StatusOr<std::vector<Case>> FindCases(const std::string& root) {
  std::vector<Case> cases;
  std::error_code error;
  for (const auto& folder : fs::directory_iterator(root, error)) {
    if (!folder.is_directory()) continue;
    std::error_code inner_error;
    for (const auto& entry : fs::directory_iterator(folder, inner_error)) {
      const fs::path model = entry.path() / "model.onnx";
      if (!fs::is_regular_file(model, inner_error)) continue;
      Case& found = cases.emplace_back();
      found.name = entry.path().filename().string();
      found.folder = folder.path().filename().string();
      Describe(model.string(), found);
    }
  }
  if (cases.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        root, error ? ": " + error.message() : ": no case is there"));
  }
  absl::c_sort(cases, [](const Case& a, const Case& b) {
    return std::pair(a.folder, a.name) < std::pair(b.folder, b.name);
  });
  return cases;
}

}  // namespace tensord::conformance
