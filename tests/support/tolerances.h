#ifndef TENSORD_TESTS_SUPPORT_TOLERANCES_H_
#define TENSORD_TESTS_SUPPORT_TOLERANCES_H_

// The one table of tolerances, where tests look for it.
#include "backends/api/tolerances.h"  // IWYU pragma: export

#endif  // TENSORD_TESTS_SUPPORT_TOLERANCES_H_
