#ifndef TENSORD_TOOLS_TENSORDCTL_GRAPH_NAME_H_
#define TENSORD_TOOLS_TENSORDCTL_GRAPH_NAME_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "clients/cpp/client.h"

namespace tensord::ctl {

// How many digits of a graph id tables show: enough to name it again.
inline constexpr size_t kShortIdDigits = 12;

std::string ShortId(absl::string_view graph_id);

// Submits the ONNX file at `path`.
absl::StatusOr<v1::SubmitGraphResponse> SubmitFile(
    Client& client, const std::string& path, const v1::CompileOptions& compile);

// The graph that the user means by `name`: an ONNX file, which is submitted if
// the daemon does not hold it, or an id of a graph that it does hold, or the
// beginning of one (6 digits or more) that no other graph has. LocalError() for
// text that is neither, or that several graphs begin with.
absl::StatusOr<v1::GraphInfo> FindGraph(Client& client, const std::string& name,
                                        const v1::CompileOptions& compile);

// The same, without submitting files.
absl::StatusOr<v1::GraphInfo> FindHeldGraph(Client& client,
                                            const std::string& name);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_GRAPH_NAME_H_
