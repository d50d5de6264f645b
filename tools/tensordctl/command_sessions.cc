#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"
#include "clients/cpp/durations.h"
#include "tools/tensordctl/arguments.h"
#include "tools/tensordctl/command.h"
#include "tools/tensordctl/errors.h"
#include "tools/tensordctl/proto_json.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {
namespace {

constexpr char kExamples[] =
    "  id=$(tensordctl sessions create --ttl 1h --quiet)\n"
    "  tensordctl sessions keep $id     # its time to live begins anew\n"
    "  tensordctl sessions close $id    # frees its tensors, ends its runs\n";

struct SessionsOptions {
  std::string action;
  std::string id;
  std::string name;
  std::string time_to_live;
  bool quiet = false;
};

absl::StatusOr<ExitCode> Show(const Context& context,
                              const absl::StatusOr<v1::Session>& session,
                              bool is_quiet) {
  if (!session.ok()) return session.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*session));
    return ExitCode::kOk;
  }
  std::ostream& out = context.console.out;
  if (is_quiet) {
    out << session->session_id() << "\n";
    return ExitCode::kOk;
  }
  out << "session    " << session->session_id();
  if (!session->display_name().empty()) {
    out << " (" << Printable(session->display_name()) << ")";
  }
  out << "\nlives      "
      << absl::FormatDuration(FromProto(session->time_to_live()))
      << " after its last use\nowns       " << session->tensor_count()
      << " tensors, " << FormatBytes(session->resident_bytes()) << "; "
      << session->open_execution_count() << " open runs\n";
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Create(const Context& context, Client& client,
                                const SessionsOptions& options) {
  v1::CreateSessionRequest request;
  request.set_display_name(options.name);
  if (!options.time_to_live.empty()) {
    const auto time = ParseTime("--ttl", options.time_to_live);
    if (!time.ok()) return time.status();
    *request.mutable_time_to_live() = ToProto(*time);
  }
  return Show(context, client.CreateSession(request), options.quiet);
}

absl::StatusOr<ExitCode> Close(const Context& context, Client& client,
                               const std::string& id) {
  const auto closed = client.CloseSession(id);
  if (!closed.ok()) return closed.status();
  if (context.options.json) {
    context.PrintJson(JsonOfMessage(*closed));
  } else {
    context.console.out << "closed     " << Printable(id) << ": freed "
                        << closed->freed_tensor_count() << " tensors, "
                        << FormatBytes(closed->freed_bytes()) << "; cancelled "
                        << closed->cancelled_execution_count() << " runs\n";
  }
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> Sessions(const Context& context,
                                  const SessionsOptions& options) {
  if ((options.action == "create") != options.id.empty()) {
    return LocalError(options.id.empty()
                          ? options.action + " needs a session id"
                          : "create takes no session id");
  }
  auto client = context.Connect();
  if (!client.ok()) return client.status();
  if (options.action == "create") return Create(context, *client, options);
  if (options.action == "close") return Close(context, *client, options.id);
  return Show(context, client->KeepAlive(options.id), options.quiet);
}

}  // namespace

void AddSessionsCommand(CLI::App& app, CommonOptions& common, Command& chosen) {
  const auto options = std::make_shared<SessionsOptions>();
  CLI::App& command =
      AddCommand(app, common, chosen, "sessions",
                 "Create, keep alive or close a session, which owns tensors",
                 kExamples, [options](const Context& context) {
                   return Sessions(context, *options);
                 });
  command.add_option("ACTION", options->action, "create, keep or close")
      ->check(CLI::IsMember({"create", "keep", "close"}))
      ->required();
  command.add_option("SESSION", options->id, "A session id");
  command.add_option("--name", options->name, "create: for people");
  command.add_option("--ttl", options->time_to_live,
                     "create: it ends so long after its last use: 10m, 1h");
  command.add_flag("-q,--quiet", options->quiet, "Print the session id alone");
}

}  // namespace tensord::ctl
