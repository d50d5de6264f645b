#ifndef TENSORD_ENGINE_GRAPH_STATUS_MACROS_H_
#define TENSORD_ENGINE_GRAPH_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Leaves the function with the status of `expression` unless that is OK.
#define TENSORD_RETURN_IF_ERROR(expression)          \
  do {                                               \
    absl::Status tensord_status = (expression);      \
    if (!tensord_status.ok()) return tensord_status; \
  } while (false)

// `target` gets the value of the StatusOr, or the function is left with its
// status. `target` may be a declaration.
#define TENSORD_ASSIGN_OR_RETURN(target, expression)                           \
  TENSORD_ASSIGN_OR_RETURN_IMPL(TENSORD_CONCAT(tensord_or_, __LINE__), target, \
                                expression)
#define TENSORD_ASSIGN_OR_RETURN_IMPL(result, target, expression) \
  auto result = (expression);                                     \
  if (!result.ok()) return std::move(result).status();            \
  target = *std::move(result)
#define TENSORD_CONCAT(a, b) TENSORD_CONCAT_IMPL(a, b)
#define TENSORD_CONCAT_IMPL(a, b) a##b

#endif  // TENSORD_ENGINE_GRAPH_STATUS_MACROS_H_
