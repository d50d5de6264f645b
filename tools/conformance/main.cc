#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "clients/cpp/leave_process.h"
#include "tools/conformance/app.h"
#include "tools/tensordctl/console.h"

int main(int argc, char** argv) {
  // The daemon of the same build lies beside this program.
  std::error_code error;
  const std::filesystem::path self =
      std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string daemon =
      error ? "tensord" : (self.parent_path() / "tensord").string();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const int exit_code = tensord::conformance::RunApp(
      arguments, daemon, tensord::ctl::TerminalConsole());
  tensord::LeaveProcess(exit_code);
}
