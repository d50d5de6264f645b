#include "server/process/port_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"

namespace tensord {
namespace {

absl::Status Failed(const std::string& path) {
  return absl::UnavailableError(absl::StrCat(
      "--port-file: cannot write '", path, "': ", std::strerror(errno)));
}

}  // namespace

absl::Status WritePortFile(const std::string& path,
                           const std::vector<std::string>& grpc_addresses,
                           const std::string& metrics_address) {
  nlohmann::ordered_json json;
  json["grpc"] = grpc_addresses;
  json["metrics"] = metrics_address;
  json["pid"] = getpid();
  const std::string temporary = absl::StrCat(path, ".", getpid(), ".tmp");
  {
    std::ofstream file(temporary, std::ios::trunc);
    // A path that is no UTF-8 would make dump() throw.
    file << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
         << "\n";
    file.flush();
    if (!file.good()) return Failed(temporary);
  }
  if (std::rename(temporary.c_str(), path.c_str()) != 0) {
    const absl::Status status = Failed(path);
    std::remove(temporary.c_str());
    return status;
  }
  return absl::OkStatus();
}

}  // namespace tensord
