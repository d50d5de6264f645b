#include "tools/tensordctl/graph_name.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/cpp/graph_id.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/files.h"
#include "tools/tensordctl/onnx_file.h"

namespace tensord::ctl {
namespace {

constexpr size_t kIdDigits = 64;
constexpr size_t kFewestDigits = 6;

bool IsHexadecimal(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isxdigit(static_cast<unsigned char>(c)) &&
           !absl::ascii_isupper(static_cast<unsigned char>(c));
  });
}

}  // namespace

std::string ShortId(absl::string_view graph_id) {
  return std::string(graph_id.substr(0, kShortIdDigits));
}

absl::StatusOr<v1::SubmitGraphResponse> SubmitFile(
    Client& client, const std::string& path,
    const v1::CompileOptions& compile) {
  const auto bytes = ReadOnnxFile(path);
  if (!bytes.ok()) return bytes.status();
  return client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, *bytes, compile);
}

absl::StatusOr<v1::GraphInfo> FindGraph(Client& client, const std::string& name,
                                        const v1::CompileOptions& compile) {
  if (!IsFile(name)) return FindHeldGraph(client, name);
  const auto bytes = ReadOnnxFile(name);
  if (!bytes.ok()) return bytes.status();
  // A model may be large; its id is not.
  auto held = client.GetGraph(GraphId(v1::GRAPH_FORMAT_ONNX, *bytes, compile));
  if (!absl::IsNotFound(held.status())) return held;
  auto submitted = client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, *bytes, compile);
  if (!submitted.ok()) return submitted.status();
  return std::move(*submitted->mutable_graph());
}

absl::StatusOr<v1::GraphInfo> FindHeldGraph(Client& client,
                                            const std::string& name) {
  if (!IsHexadecimal(name) || name.size() < kFewestDigits ||
      name.size() > kIdDigits) {
    return LocalError(absl::StrCat(name, ": neither a file nor a graph id (",
                                   kFewestDigits, " to ", kIdDigits,
                                   " lower-case hexadecimal digits)"));
  }
  if (name.size() == kIdDigits) return client.GetGraph(name);
  auto graphs = client.ListGraphs();
  if (!graphs.ok()) return graphs.status();
  std::vector<std::string> found;
  for (const v1::GraphInfo& graph : *graphs) {
    if (absl::StartsWith(graph.graph_id(), name)) {
      found.push_back(graph.graph_id());
    }
  }
  if (found.empty()) {
    return absl::NotFoundError(absl::StrCat("none of your ", graphs->size(),
                                            " graphs begins with ", name));
  }
  if (found.size() > 1) {
    return LocalError(absl::StrCat(name, ": ", found.size(),
                                   " graphs begin with it; give more digits"));
  }
  return client.GetGraph(found.front());
}

}  // namespace tensord::ctl
