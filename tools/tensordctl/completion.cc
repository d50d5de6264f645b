#include "tools/tensordctl/completion.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/tensordctl/command.h"

namespace tensord::ctl {
namespace {

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<const CLI::App*> Subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

// What the ACTION of a command may be, which its check does not tell.
std::vector<std::string> ActionsOf(const std::string& command) {
  if (command == "graphs" || command == "tensors") {
    return {"list", "get", "delete"};
  }
  if (command == "executions") return {"list", "get"};
  if (command == "sessions") return {"create", "keep", "close"};
  return {};
}

constexpr char kExamples[] =
    "  source <(tensordctl completion bash)\n"
    "  tensordctl completion bash > "
    "/etc/bash_completion.d/tensordctl\n";

}  // namespace

std::string BashCompletion(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  for (const CLI::App* command : Subcommands(app)) {
    names.push_back(command->get_name());
    std::vector<std::string> words = OptionNames(*command);
    const std::vector<std::string> actions = ActionsOf(command->get_name());
    words.insert(words.end(), actions.begin(), actions.end());
    absl::StrAppend(&cases, "    ", command->get_name(), ") words=\"",
                    absl::StrJoin(words, " "), "\" ;;\n");
  }
  return absl::StrCat(
      "# bash completion for tensordctl\n"
      "_tensordctl() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} words\n"
      "  case ${COMP_WORDS[1]} in\n",
      cases, "    *) words=\"", absl::StrJoin(names, " "), " ",
      absl::StrJoin(OptionNames(app), " "),
      "\" ;;\n"
      "  esac\n"
      "  [ \"$COMP_CWORD\" -gt 1 ] || words=\"",
      absl::StrJoin(names, " "), " ", absl::StrJoin(OptionNames(app), " "),
      "\"\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}\n"
      "complete -o default -F _tensordctl tensordctl\n");
}

void AddCompletionCommand(CLI::App& app, CommonOptions& common,
                          Command& chosen) {
  const auto shell = std::make_shared<std::string>();
  CLI::App& command = AddCommand(
      app, common, chosen, "completion", "Print a completion script for bash",
      kExamples,
      // `shell` lives as long as the option that writes to it.
      [&app, shell](const Context& context) -> absl::StatusOr<ExitCode> {
        context.console.out << BashCompletion(app);
        return ExitCode::kOk;
      });
  command.add_option("SHELL", *shell, "bash")
      ->required()
      ->check(CLI::IsMember({"bash"}));
}

}  // namespace tensord::ctl
