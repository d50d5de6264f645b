#ifndef TENSORD_TOOLS_TENSORDCTL_COMPLETION_H_
#define TENSORD_TOOLS_TENSORDCTL_COMPLETION_H_

#include <string>

namespace CLI {
class App;
}

namespace tensord::ctl {

// A bash script that completes the subcommands of `app` and their options, made
// from `app` itself so that it never lags behind. File names complete
// everything else.
std::string BashCompletion(const CLI::App& app);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_COMPLETION_H_
