#ifndef TENSORD_SERVER_EXECUTIONS_OUTPUT_WISH_H_
#define TENSORD_SERVER_EXECUTIONS_OUTPUT_WISH_H_

#include <cstddef>
#include <optional>

#include "absl/time/time.h"

namespace tensord {

// One output that a request asks for. A plain value.
struct OutputWish {
  size_t index = 0;    // of the graph's outputs
  bool stays = false;  // as a tensor of the session
  // With `stays`:
  std::optional<absl::Duration> time_to_live;
  std::optional<size_t> reuse_input;  // a donated one, by the graph's inputs
};

}  // namespace tensord

#endif  // TENSORD_SERVER_EXECUTIONS_OUTPUT_WISH_H_
