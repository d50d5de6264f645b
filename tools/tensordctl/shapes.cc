#include "tools/tensordctl/shapes.h"

#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/type_text.h"

namespace tensord::ctl {
namespace {

bool ParseExtent(absl::string_view text, int64_t& extent) {
  return absl::SimpleAtoi(text, &extent) && extent >= 0;
}

}  // namespace

absl::StatusOr<Symbols> ParseSymbols(const std::vector<std::string>& texts) {
  Symbols symbols;
  for (const std::string& text : texts) {
    const std::pair<std::string, std::string> parts =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    int64_t extent = 0;
    if (parts.first.empty() || !ParseExtent(parts.second, extent)) {
      return LocalError(absl::StrCat(
          "--set ", text, ": not SYMBOL=EXTENT with an extent of 0 or more"));
    }
    if (!symbols.emplace(parts.first, extent).second) {
      return LocalError(
          absl::StrCat("--set ", text, ": ", parts.first, " is set twice"));
    }
  }
  return symbols;
}

absl::Status CheckSymbols(const Symbols& symbols, const v1::GraphInfo& graph) {
  std::set<std::string> known;
  for (const v1::ValueInfo& input : graph.inputs()) {
    for (const v1::Dim& dim : input.dims()) {
      if (!dim.symbol().empty()) known.insert(dim.symbol());
    }
  }
  for (const auto& [symbol, extent] : symbols) {
    if (known.count(symbol) != 0) continue;
    return LocalError(absl::StrCat(
        "--set ", symbol, "=", extent, ": the graph's inputs have ",
        known.empty() ? "no symbols"
                      : absl::StrCat("only ", absl::StrJoin(known, ", "))));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> ParseDims(absl::string_view text) {
  std::vector<int64_t> dims;
  if (text.empty()) return dims;
  for (absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t extent = 0;
    if (!ParseExtent(part, extent)) {
      return LocalError(
          absl::StrCat(text, ": not a shape such as 1x3x224x224"));
    }
    dims.push_back(extent);
  }
  return dims;
}

absl::StatusOr<std::vector<int64_t>> ResolveDims(const v1::ValueInfo& input,
                                                 const Symbols& symbols) {
  const std::string what =
      absl::StrCat("input ", input.name(), " is ", TypeText(input), ": ");
  const std::string give_shape = absl::StrCat(
      "give its shape, as in --input ", input.name(), "=random:1x3x224x224");
  if (input.rank_unknown()) return LocalError(what + give_shape);
  std::vector<int64_t> dims;
  for (const v1::Dim& dim : input.dims()) {
    if (dim.extent_case() == v1::Dim::kSize) {
      dims.push_back(dim.size());
      continue;
    }
    if (dim.symbol().empty()) return LocalError(what + give_shape);
    const auto found = symbols.find(dim.symbol());
    if (found == symbols.end()) {
      return LocalError(absl::StrCat(what, "give ", dim.symbol(),
                                     " an extent, as in --set ", dim.symbol(),
                                     "=1"));
    }
    dims.push_back(found->second);
  }
  return dims;
}

}  // namespace tensord::ctl
