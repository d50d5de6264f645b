#include "tools/conformance/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace tensord::conformance {
namespace {

// A child tells nobody that it has ended in a way that one can wait for with a
// deadline and without a signal handler; so it is asked so often.
constexpr absl::Duration kPollInterval = absl::Milliseconds(5);

std::string EndingText(int status) {
  if (WIFSIGNALED(status)) {
    return absl::StrCat("signal ", WTERMSIG(status), " (",
                        strsignal(WTERMSIG(status)), ")");
  }
  return absl::StrCat("exit code ", WEXITSTATUS(status));
}

}  // namespace

absl::StatusOr<ChildProcess> ChildProcess::Start(
    std::vector<std::string> arguments, const std::string& output_path) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  int output = -1;
  if (!output_path.empty()) {
    output = open(output_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                  0600);
    if (output < 0) {
      return absl::UnavailableError(
          absl::StrCat(output_path, ": ", std::strerror(errno)));
    }
  }
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid == 0) {
    // Other threads may hold any lock: only system calls from here on.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    if (output >= 0) {
      dup2(output, STDOUT_FILENO);
      dup2(output, STDERR_FILENO);
    }
    execvp(argv[0], argv.data());
    _exit(127);
  }
  const int fork_error = errno;
  if (output >= 0) close(output);
  if (pid < 0) {
    return absl::UnavailableError(
        absl::StrCat("fork: ", std::strerror(fork_error)));
  }
  return ChildProcess(pid);
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || ending_) return;
  Signal(SIGKILL);
  Wait();
}

absl::optional<std::string> ChildProcess::EndingWithin(
    absl::Duration patience) {
  const absl::Time deadline = absl::Now() + patience;
  while (!ending_) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) {
      ending_ = EndingText(status);
    } else if (ended < 0 && errno != EINTR) {
      ending_ = absl::StrCat("waitpid: ", std::strerror(errno));
    } else if (absl::Now() >= deadline) {
      break;
    } else {
      absl::SleepFor(kPollInterval);
    }
  }
  return ending_;
}

std::string ChildProcess::Wait() {
  return *EndingWithin(absl::InfiniteDuration());
}

void ChildProcess::Signal(int signal) const {
  if (pid_ > 0 && !ending_) kill(pid_, signal);
}

}  // namespace tensord::conformance
