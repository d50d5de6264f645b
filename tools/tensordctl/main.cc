#include <clocale>
#include <cstdlib>
#include <string>
#include <vector>

#include "clients/cpp/leave_process.h"
#include "tools/tensordctl/app.h"
#include "tools/tensordctl/console.h"

int main(int argc, char** argv) {
  // Tables count the width of UTF-8 text; C.UTF-8 is always there.
  if (std::setlocale(LC_CTYPE, "") == nullptr || MB_CUR_MAX == 1) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
  }
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const tensord::ctl::ExitCode code =
      tensord::ctl::RunApp(arguments, tensord::ctl::TerminalConsole());
  tensord::LeaveProcess(static_cast<int>(code));
}
