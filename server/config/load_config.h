#ifndef TENSORD_SERVER_CONFIG_LOAD_CONFIG_H_
#define TENSORD_SERVER_CONFIG_LOAD_CONFIG_H_

#include <optional>
#include <set>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "server/config/server_config.h"

namespace tensord {

// What the command line asks for: to serve, or to print a text and exit with 0
// (--help, --version, --print-config).
struct Startup {
  ServerConfig config;
  // Names of the options that were set, by whatever way.
  std::set<std::string> given;
  std::optional<std::string> text_to_print;
};

// Reads a variable of the environment; nothing when it is not set.
using ReadVariable =
    absl::FunctionRef<std::optional<std::string>(const std::string& name)>;

// The configuration of flags, TENSORD_* variables, a YAML file (--config or
// TENSORD_CONFIG) and defaults, in this order of precedence; validated.
//
// Errors: kInvalidArgument that names the option, where its value came from,
//   and what would be right. An unknown flag or key of the file is one;
//   unknown variables are not, since Kubernetes sets TENSORD_PORT and others
//   for a service of that name.
absl::StatusOr<Startup> LoadConfig(int argc, const char* const* argv,
                                   ReadVariable read_variable,
                                   absl::string_view version);

// The process' own environment.
std::optional<std::string> ReadEnvironment(const std::string& name);

// As a file that LoadConfig reads back as the same.
std::string FormatConfig(const ServerConfig& config);

}  // namespace tensord

#endif  // TENSORD_SERVER_CONFIG_LOAD_CONFIG_H_
