#include "tools/conformance/target.h"

#include <signal.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "tools/tensordctl/console.h"
#include "tools/tensordctl/files.h"

namespace tensord::conformance {
namespace {

// For a loaded machine and a sanitizer's build; it is there in 0.1 s usually.
constexpr absl::Duration kStartPatience = absl::Seconds(60);
constexpr absl::Duration kStopPatience = absl::Seconds(30);
// Writing a core file may take a while.
constexpr absl::Duration kEndingPatience = absl::Seconds(3);
constexpr absl::Duration kPollInterval = absl::Milliseconds(10);
constexpr size_t kLogLines = 4;

// The address in a port file, empty while there is none.
std::string AddressIn(const std::string& port_file) {
  const auto text = ctl::ReadFile(port_file);
  if (!text.ok()) return "";
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || !json.contains("grpc") || json["grpc"].empty()) {
    return "";
  }
  return json["grpc"][0].get<std::string>();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Target>> Target::OwnDaemon(
    std::string program, std::vector<std::string> options) {
  std::unique_ptr<Target> target(new Target);
  target->program_ = std::move(program);
  target->options_ = std::move(options);
  auto scratch = ScratchFolder::Make();
  if (!scratch.ok()) return scratch.status();
  target->scratch_ = *std::move(scratch);
  const absl::Status status = target->Start();
  if (!status.ok()) return status;
  return target;
}

absl::StatusOr<std::unique_ptr<Target>> Target::At(const std::string& address) {
  std::unique_ptr<Target> target(new Target);
  target->address_ = address;
  const absl::Status status = target->Start();
  if (!status.ok()) return status;
  return target;
}

Target::~Target() = default;

absl::Status Target::Start() {
  if (scratch_) {
    const std::string port_file = scratch_->path() + "/ports.json";
    std::remove(port_file.c_str());
    std::vector<std::string> arguments = {
        program_, "--listen=127.0.0.1:0", "--metrics-listen=off",
        absl::StrCat("--port-file=", port_file)};
    arguments.insert(arguments.end(), options_.begin(), options_.end());
    auto process =
        ChildProcess::Start(std::move(arguments), scratch_->path() + "/log");
    if (!process.ok()) return process.status();
    process_ = *std::move(process);
    const absl::Time deadline = absl::Now() + kStartPatience;
    for (address_.clear(); address_.empty(); address_ = AddressIn(port_file)) {
      const auto ending = process_->EndingWithin(kPollInterval);
      if (!ending && absl::Now() < deadline) continue;
      return absl::UnavailableError(absl::StrCat(
          program_, " does not start: ", ending.value_or("it says no address"),
          LogEnd()));
    }
  }
  auto client = Client::Connect(address_);
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  return absl::OkStatus();
}

std::string Target::LogEnd() const {
  const auto log = ctl::ReadFile(scratch_->path() + "/log");
  if (!log.ok() || log->empty()) return "";
  std::vector<absl::string_view> lines =
      absl::StrSplit(*log, '\n', absl::SkipEmpty());
  if (lines.size() > kLogLines) {
    lines.erase(lines.begin(), lines.end() - kLogLines);
  }
  return absl::StrCat("; its log ends: ",
                      ctl::Printable(absl::StrJoin(lines, " | ")));
}

absl::optional<std::string> Target::Ending() {
  if (!process_) return absl::nullopt;
  const auto ending = process_->EndingWithin(kEndingPatience);
  if (!ending) return absl::nullopt;
  return absl::StrCat(*ending, LogEnd());
}

absl::Status Target::Restart() {
  client_.reset();
  process_.reset();
  return Start();
}

absl::Status Target::Stop() {
  if (!process_) return absl::OkStatus();
  process_->Signal(SIGTERM);
  const auto ending = process_->EndingWithin(kStopPatience);
  if (ending == "exit code 0") return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("asked to end, the daemon came to: ",
                   ending.value_or("nothing, it runs on"), LogEnd()));
}

}  // namespace tensord::conformance
