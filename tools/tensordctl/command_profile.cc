#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/profile_table.h"
#include "tools/tensordctl/proto_json.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  tensordctl profile                        # since the daemon's start\n"
    "  tensordctl profile --for 10s              # of the next ten seconds\n"
    "  tensordctl profile --set sampled --sample-every 16\n"
    "  tensordctl profile --set full\n";

struct ProfileOptions {
  std::string mode;
  int sample_every = 0;
  std::string window;
  bool kernels = false;
  bool phases = false;
};

absl::StatusOr<ExitCode> Configure(const Context& context, Client& client,
                                   const ProfileOptions& options) {
  v1::ConfigureOpProfileRequest request;
  v1::OpProfileMode mode = v1::OP_PROFILE_MODE_UNSPECIFIED;
  if (!options.mode.empty()) {
    v1::OpProfileMode_Parse(
        absl::StrCat("OP_PROFILE_MODE_", absl::AsciiStrToUpper(options.mode)),
        &mode);
  }
  request.set_mode(mode);
  if (options.sample_every > 0) request.set_sample_every(options.sample_every);
  const auto config = client.ConfigureOpProfile(request);
  if (!config.ok()) return config.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*config));
  } else {
    PrintProfileConfig(context.console, *config);
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Show(const Context& context, Client& client,
                              const ProfileOptions& options) {
  v1::GetOpProfileRequest request;
  if (!context.options.json) {
    request.set_omit_kernels(!options.kernels);
    request.set_omit_phases(!options.phases);
  }
  auto profile = client.GetOpProfile(request);
  if (!profile.ok()) return profile.status();
  if (!options.window.empty()) {
    absl::Duration window;
    if (!absl::ParseDuration(options.window, &window) ||
        window <= absl::ZeroDuration() || window > absl::Hours(24)) {
      return LocalError(absl::StrCat("--for ", options.window,
                                     ": not a time such as 500ms, 10s or 2m"));
    }
    *request.mutable_since() = *std::move(profile);
    absl::SleepFor(window);
    profile = client.GetOpProfile(request);
    if (!profile.ok()) return profile.status();
  }
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*profile));
    return ExitCode::kOk;
  }
  PrintProfileConfig(context.console, profile->config());
  if (profile->spans_epochs()) {
    context.console.out << "The settings changed within this window: counts "
                           "and times may be of different launches.\n";
  }
  PrintOpTable(context.console, *profile);
  if (options.kernels) {
    context.console.out << "\n";
    PrintKernelTable(context.console, *profile);
  }
  if (options.phases) {
    context.console.out << "\n";
    PrintPhaseTable(context.console, *profile);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddProfileCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<ProfileOptions>();
  CLI::App& command = AddCommand(
      app, common, chosen, "profile", "Show where ops spend time, or set how",
      kExamples, [options](const Context& context) -> absl::StatusOr<ExitCode> {
        auto client = context.Connect();
        if (!client.ok()) return client.status();
        const bool configures =
            !options->mode.empty() || options->sample_every > 0;
        return configures ? Configure(context, *client, *options)
                          : Show(context, *client, *options);
      });
  CLI::Option* set =
      command.add_option("--set", options->mode, "Account: full, sampled, off")
          ->check(CLI::IsMember({"full", "sampled", "off"}));
  command
      .add_option("--sample-every", options->sample_every,
                  "In mode sampled, time one run in so many")
      ->check(CLI::Range(1, 1000000));
  command.add_option("--for", options->window, "Account this long from now on")
      ->excludes(set);
  command.add_flag("--kernels", options->kernels, "Also launches by kernel");
  command.add_flag("--phases", options->phases, "Also the phases of runs");
}

}  // namespace tensord::ctl
