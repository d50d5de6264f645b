#ifndef TENSORD_TOOLS_TENSORDCTL_APP_H_
#define TENSORD_TOOLS_TENSORDCTL_APP_H_

#include <string>
#include <vector>

#include "tools/tensordctl/console.h"
#include "tools/tensordctl/exit_code.h"

namespace tensord::ctl {

// The whole program but for its process: parses the arguments (without the
// program's name), does what they say, and writes to the console.
ExitCode RunApp(const std::vector<std::string>& arguments,
                const Console& console);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_APP_H_
