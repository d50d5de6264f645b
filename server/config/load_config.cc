#include "server/config/load_config.h"

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/config/option_table.h"
#include "server/config/option_values.h"

namespace tensord {
namespace {

// Texts by option name.
using Texts = std::map<std::string, std::string>;

const Option* FindOption(absl::string_view name) {
  for (const Option& option : OptionTable()) {
    if (name == option.name) return &option;
  }
  return nullptr;
}

absl::Status Wrong(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

// --- Flags.

struct CommandLine {
  Texts flags;
  std::string config_file;
  bool print_config = false;
  std::optional<std::string> text_to_print;
};

std::string DefaultText(const Option& option) {
  std::string text = option.get(ServerConfig());
  return text.empty() ? "" : absl::StrCat(" [", text, "]");
}

absl::StatusOr<CommandLine> ReadFlags(int argc, const char* const* argv,
                                      absl::string_view version) {
  CLI::App app(
      "Runs tensor graphs for remote clients.\n"
      "An option is also read from TENSORD_<NAME> and from the file that "
      "--config names;\nflags come before variables, and these before the "
      "file.",
      "tensord");
  CommandLine line;
  std::vector<std::pair<CLI::Option*, const Option*>> flags;
  std::vector<std::unique_ptr<std::string>> texts;
  for (const Option& option : OptionTable()) {
    const std::string name = absl::StrCat("--", option.name);
    const std::string help = absl::StrCat(option.help, DefaultText(option));
    texts.push_back(std::make_unique<std::string>());
    CLI::Option* flag =
        option.kind == Option::Kind::kFlag
            ? app.add_flag(name, *texts.back(), help)
            : app.add_option(name, *texts.back(), help)->type_name("");
    flag->group(option.group);
    flag->multi_option_policy(option.kind == Option::Kind::kList
                                  ? CLI::MultiOptionPolicy::Join
                                  : CLI::MultiOptionPolicy::TakeLast);
    flags.emplace_back(flag, &option);
  }
  bool show_version = false;
  app.add_option("--config", line.config_file,
                 "A YAML file of options, one NAME: VALUE a line");
  app.add_flag("--print-config", line.print_config,
               "Print the configuration as such a file, and exit");
  app.add_flag("--version", show_version, "Print the version, and exit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    line.text_to_print = app.help();
    return line;
  } catch (const CLI::ArgumentMismatch& error) {
    // Its text begins with the option's name.
    const std::string text = error.what();
    return absl::InvalidArgumentError(absl::StrCat(
        text.substr(0, text.find(':')), ": there is no value; give one"));
  } catch (const CLI::ParseError& error) {
    return absl::InvalidArgumentError(
        absl::StrCat(error.what(), "; --help lists the options"));
  }
  if (show_version) {
    line.text_to_print = absl::StrCat("tensord ", version, "\n");
    return line;
  }
  for (const auto& [flag, option] : flags) {
    if (flag->count() == 0) continue;
    line.flags[option->name] = option->kind == Option::Kind::kList
                                   ? absl::StrJoin(flag->results(), ",")
                                   : flag->results().back();
  }
  return line;
}

// --- The file.

absl::StatusOr<std::string> TextOf(const YAML::Node& value,
                                   const Option& option) {
  if (value.IsScalar()) return value.Scalar();
  if (value.IsSequence() && option.kind == Option::Kind::kList) {
    std::vector<std::string> parts;
    for (const YAML::Node& part : value) {
      if (!part.IsScalar()) {
        return absl::InvalidArgumentError("its list has more than texts in it");
      }
      parts.push_back(part.Scalar());
    }
    return absl::StrJoin(parts, ",");
  }
  return absl::InvalidArgumentError(option.kind == Option::Kind::kList
                                        ? "give a text or a list of texts"
                                        : "give one value");
}

absl::StatusOr<Texts> ReadYaml(const std::string& path,
                               const std::string& content) {
  Texts texts;
  try {
    const YAML::Node root = YAML::Load(content);
    if (root.IsNull()) return texts;
    if (!root.IsMap()) return Wrong(path, "give one NAME: VALUE a line");
    for (const auto& entry : root) {
      const std::string name = entry.first.Scalar();
      const std::string where = absl::StrCat(
          path, ":", entry.first.Mark().line + 1, ": '", name, "'");
      const Option* option = FindOption(name);
      if (option == nullptr) {
        return Wrong(where, "no such option; --help lists them");
      }
      absl::StatusOr<std::string> text = TextOf(entry.second, *option);
      if (!text.ok()) return Wrong(where, text.status().message());
      if (!texts.emplace(name, *std::move(text)).second) {
        return Wrong(where, "is there twice");
      }
    }
  } catch (const YAML::Exception& error) {
    return Wrong(absl::StrCat(path, ":", error.mark.line + 1), error.msg);
  }
  return texts;
}

absl::StatusOr<Texts> ReadConfigFile(const std::string& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  if (!file.is_open() || file.bad() || content.bad()) {
    return Wrong("--config",
                 absl::StrCat("cannot read '", path, "'; give a YAML file"));
  }
  return ReadYaml(path, content.str());
}

// --- All together.

absl::Status SetOption(const Option& option, const Texts& flags,
                       const Texts& file, const std::string& path,
                       ReadVariable read_variable, Startup& startup) {
  const std::string variable = VariableName(option.name);
  std::string text, where;
  if (const auto flag = flags.find(option.name); flag != flags.end()) {
    text = flag->second;
    where = absl::StrCat("--", option.name);
  } else if (const auto value = read_variable(variable); value.has_value()) {
    text = *value;
    where = absl::StrCat("--", option.name, " (from ", variable, ")");
  } else if (const auto entry = file.find(option.name); entry != file.end()) {
    text = entry->second;
    where = absl::StrCat("--", option.name, " (from ", path, ")");
  } else {
    return absl::OkStatus();
  }
  startup.given.insert(option.name);
  const absl::Status status = option.set(option, startup.config, text);
  return status.ok() ? status : Wrong(where, status.message());
}

}  // namespace

absl::StatusOr<Startup> LoadConfig(int argc, const char* const* argv,
                                   ReadVariable read_variable,
                                   absl::string_view version) {
  absl::StatusOr<CommandLine> line = ReadFlags(argc, argv, version);
  if (!line.ok()) return line.status();
  Startup startup;
  startup.text_to_print = std::move(line->text_to_print);
  if (startup.text_to_print.has_value()) return startup;

  std::string path = line->config_file;
  if (path.empty()) path = read_variable("TENSORD_CONFIG").value_or("");
  Texts file;
  if (!path.empty()) {
    absl::StatusOr<Texts> texts = ReadConfigFile(path);
    if (!texts.ok()) return texts.status();
    file = *std::move(texts);
  }
  for (const Option& option : OptionTable()) {
    const absl::Status status =
        SetOption(option, line->flags, file, path, read_variable, startup);
    if (!status.ok()) return status;
  }
  const absl::Status status = Validate(startup.config);
  if (!status.ok()) return status;
  if (line->print_config) startup.text_to_print = FormatConfig(startup.config);
  return startup;
}

std::optional<std::string> ReadEnvironment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::string FormatConfig(const ServerConfig& config) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  absl::string_view group;
  for (const Option& option : OptionTable()) {
    if (group != option.group) {
      group = option.group;
      out << YAML::Newline << YAML::Comment(option.group);
    }
    out << YAML::Key << option.name << YAML::Value << option.get(config);
  }
  out << YAML::EndMap;
  return absl::StrCat(out.c_str(), "\n");
}

}  // namespace tensord
