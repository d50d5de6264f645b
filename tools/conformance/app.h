#ifndef TENSORD_TOOLS_CONFORMANCE_APP_H_
#define TENSORD_TOOLS_CONFORMANCE_APP_H_

#include <string>
#include <vector>

#include "tools/tensordctl/console.h"

namespace tensord::conformance {

// The whole program but for its process. `daemon` is the program to start where
// no server is given. The exit code: 0 when all that must pass passed, 1 when a
// case failed, 2 when the cases could not be run.
int RunApp(const std::vector<std::string>& arguments, const std::string& daemon,
           const ctl::Console& console);

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_APP_H_
