#ifndef TENSORD_TOOLS_CONFORMANCE_CHILD_PROCESS_H_
#define TENSORD_TOOLS_CONFORMANCE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/optional.h"

namespace tensord::conformance {

// A program that runs beside this one.
//
// Threading: start and use it on one thread, which must outlive it: the kernel
//   kills the child when that thread ends (PR_SET_PDEATHSIG), so that none
//   stays behind whatever happens to this process.
// Ownership: a child that still runs is killed with this object.
class ChildProcess {
 public:
  // `arguments`: the program, found by PATH unless it has a slash, then its
  // arguments. `output_path`: where its stdout and stderr go; empty: where this
  // process' go. That the program cannot be run is its exit code 127.
  static absl::StatusOr<ChildProcess> Start(
      std::vector<std::string> arguments, const std::string& output_path = "");

  ChildProcess(ChildProcess&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)),
        ending_(std::move(other.ending_)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(ending_, other.ending_);
    return *this;
  }
  ~ChildProcess();

  // How it ended: "exit code 0", "signal 11 (Segmentation fault)"; waits so
  // long for that, and gives nullopt if it runs on.
  absl::optional<std::string> EndingWithin(absl::Duration patience);

  // Waits until it has ended.
  std::string Wait();

  void Signal(int signal) const;

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}

  pid_t pid_;
  absl::optional<std::string> ending_;
};

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_CHILD_PROCESS_H_
