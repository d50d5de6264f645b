#ifndef TENSORD_TOOLS_TENSORDCTL_SHAPES_H_
#define TENSORD_TOOLS_TENSORDCTL_SHAPES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/v1/types.pb.h"

// Extents that the command line gives.
namespace tensord::ctl {

using Symbols = std::map<std::string, int64_t>;

// "N=5" for each symbol. LocalError() for what is no NAME=EXTENT, and for a
// name that comes twice.
absl::StatusOr<Symbols> ParseSymbols(const std::vector<std::string>& texts);

// LocalError() for a symbol that no input of the graph has: probably a typing
// error.
absl::Status CheckSymbols(const Symbols& symbols, const v1::GraphInfo& graph);

// "1x3x8x8"; empty for a scalar. LocalError() for anything else.
absl::StatusOr<std::vector<int64_t>> ParseDims(absl::string_view text);

// The extents of an input. LocalError() names the symbol that has no value, or
// the extent that has no name.
absl::StatusOr<std::vector<int64_t>> ResolveDims(const v1::ValueInfo& input,
                                                 const Symbols& symbols);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_SHAPES_H_
