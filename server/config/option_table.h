#ifndef TENSORD_SERVER_CONFIG_OPTION_TABLE_H_
#define TENSORD_SERVER_CONFIG_OPTION_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "server/config/server_config.h"

namespace tensord {

// One option of the daemon: a row of the table from which flags, variables,
// keys of the file, --help and --print-config all come.
//
// Threading and ownership: constant data.
struct Option {
  enum class Kind : uint8_t { kValue, kFlag, kList };

  const char* name;   // "max-rank": --max-rank, TENSORD_MAX_RANK, max-rank:
  const char* group;  // heading in --help
  const char* help;
  Kind kind = Kind::kValue;
  int64_t min = 0;
  int64_t max = 0;
  // Sets the field from text. kInvalidArgument without the option's name.
  absl::Status (*set)(const Option& option, ServerConfig& config,
                      absl::string_view text) = nullptr;
  // The text from which `set` makes the same value.
  std::string (*get)(const ServerConfig& config) = nullptr;
};

// Every option, in the order of --help. No name begins with "port-" followed by
// digits or with "service-": Kubernetes sets such variables for a service that
// is called tensord.
const std::vector<Option>& OptionTable();

// "TENSORD_MAX_RANK".
std::string VariableName(absl::string_view option_name);

}  // namespace tensord

#endif  // TENSORD_SERVER_CONFIG_OPTION_TABLE_H_
