#ifndef TENSORD_CLIENTS_CPP_GRAPH_ID_H_
#define TENSORD_CLIENTS_CPP_GRAPH_ID_H_

#include <string>

#include "absl/strings/string_view.h"
#include "tensord/v1/graph_service.pb.h"

namespace tensord {

// The id that the daemon gives these bytes, by the rule at the top of
// graph_service.proto. Whoever knows it can ask GetGraph whether the daemon
// holds the graph before sending it. For graphs whose initializers are all in
// the bytes: the content of a tensor that is given by handle is part of the id,
// and only the daemon has it.
std::string GraphId(v1::GraphFormat format, absl::string_view bytes,
                    const v1::CompileOptions& compile);

}  // namespace tensord

#endif  // TENSORD_CLIENTS_CPP_GRAPH_ID_H_
