#ifndef TENSORD_ENGINE_OPS_STATUS_MACROS_H_
#define TENSORD_ENGINE_OPS_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Operator definitions are long lists of checks in which every line may refuse;
// these keep such a list readable. For .cc files only.

// Returns from the enclosing function unless `expression`, a Status, is OK.
#define TENSORD_RETURN_IF_ERROR(expression)          \
  do {                                               \
    absl::Status tensord_status = (expression);      \
    if (!tensord_status.ok()) return tensord_status; \
  } while (false)

// Assigns the value of a StatusOr to `left`, which may declare a variable, or
// returns its status.
#define TENSORD_ASSIGN_OR_RETURN(left, expression) \
  TENSORD_ASSIGN_OR_RETURN_TO(left, expression,    \
                              TENSORD_CONCATENATE(tensord_value_, __LINE__))
#define TENSORD_ASSIGN_OR_RETURN_TO(left, expression, temporary) \
  auto temporary = (expression);                                 \
  if (!temporary.ok()) return temporary.status();                \
  left = *std::move(temporary)
#define TENSORD_CONCATENATE(a, b) TENSORD_CONCATENATE_EXPANDED(a, b)
#define TENSORD_CONCATENATE_EXPANDED(a, b) a##b

#endif  // TENSORD_ENGINE_OPS_STATUS_MACROS_H_
