#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "clients/cpp/durations.h"
#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/device_table.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/profile_table.h"
#include "tools/tensordctl/proto_json.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl top                   # until it is interrupted\n"
    "  tensordctl top --interval 5s\n"
    "  tensordctl top --once --json     # the next second, for scripts\n";

struct TopOptions {
  std::string interval = "1s";
  bool once = false;
  int rows = 20;
};

// One view: the devices now, and the ops of the interval that has passed.
void Show(const Context& context, const v1::ListDevicesResponse& devices,
          v1::OpProfile profile, int rows) {
  if (context.options.json) {
    context.PrintJson({{"devices", JsonOfMessage(devices)["devices"]},
                       {"profile", JsonOfMessage(profile)}});
    context.console.out << std::flush;
    return;
  }
  std::ostream& out = context.console.out;
  // Home, then clear what is below: without a moment of an empty screen.
  if (context.console.clears_out) out << "\x1b[H\x1b[J";
  PrintDeviceTable(context.console, devices);
  out << "\n";
  PrintProfileConfig(context.console, profile.config());
  if (profile.rows_size() > rows) {
    // Sorted by time on the server's side.
    profile.mutable_rows()->DeleteSubrange(rows, profile.rows_size() - rows);
  }
  PrintOpTable(context.console, profile);
  out << (context.console.clears_out ? "" : "\n") << std::flush;
}

absl::StatusOr<ExitCode> Top(const Context& context,
                             const TopOptions& options) {
  const auto interval = ParseTime("--interval", options.interval);
  if (!interval.ok()) return interval.status();
  if (*interval < absl::Milliseconds(100) || *interval > absl::Hours(1)) {
    return LocalError("--interval " + options.interval +
                      ": not between 100ms and 1h");
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  v1::WatchOpProfileRequest request;
  *request.mutable_interval() = ToProto(*interval);
  request.set_omit_kernels(true);
  request.set_omit_phases(!context.options.json);
  // The first one is of all the time before.
  bool is_first = true;
  absl::Status failure;
  const absl::Status status =
      client->WatchOpProfile(request, [&](const v1::OpProfile& profile) {
        if (is_first) {
          is_first = false;
          return true;
        }
        const auto devices = client->ListDevices();
        failure = devices.status();
        if (!failure.ok()) return false;
        Show(context, *devices, profile, options.rows);
        return !options.once;
      });
  if (!failure.ok()) return failure;
  if (!status.ok()) return status;
  return ExitCode::kOk;
}

}  // namespace

void AddTopCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<TopOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "top",
      "Watch where ops spend time, and the devices' load", kExamples,
      [options](const Context& context) { return Top(context, *options); });
  command
      .add_option("--interval", options->interval,
                  "Each view is of so long: 100ms to 1h")
      ->capture_default_str();
  command.add_flag("--once", options->once, "One view, then end");
  command.add_option("--rows", options->rows, "At most so many ops")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
}

}  // namespace tensord::ctl
