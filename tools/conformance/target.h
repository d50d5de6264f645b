#ifndef TENSORD_TOOLS_CONFORMANCE_TARGET_H_
#define TENSORD_TOOLS_CONFORMANCE_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/optional.h"
#include "clients/cpp/client.h"
#include "tools/conformance/child_process.h"
#include "tools/conformance/scratch_folder.h"

namespace tensord::conformance {

// The daemon that the cases are sent to.
//
// Threading: client() may be used by any thread until Restart(); everything
//   else is for the thread that made the object.
class Target {
 public:
  // A daemon of our own, on a free port of this machine. Its log goes to a
  // folder that is removed with this object. kUnavailable, with the log's end,
  // when it does not start.
  static absl::StatusOr<std::unique_ptr<Target>> OwnDaemon(
      std::string program, std::vector<std::string> options);

  // A daemon that somebody else looks after.
  static absl::StatusOr<std::unique_ptr<Target>> At(const std::string& address);

  ~Target();

  Client& client() { return *client_; }

  // How our own daemon ended, with the last lines of its log; nullopt while it
  // runs, and for the daemon of somebody else. Waits a little, since the
  // connection breaks before the process has ended.
  absl::optional<std::string> Ending();

  // Ends our own daemon, if it runs, and starts another; connects anew.
  absl::Status Restart();

  // Asks our own daemon to end. kInternal when that is not its exit code 0.
  absl::Status Stop();

 private:
  Target() = default;

  absl::Status Start();
  std::string LogEnd() const;

  std::string address_;
  std::string program_;
  std::vector<std::string> options_;
  absl::optional<ScratchFolder> scratch_;
  absl::optional<ChildProcess> process_;
  absl::optional<Client> client_;
};

}  // namespace tensord::conformance

#endif  // TENSORD_TOOLS_CONFORMANCE_TARGET_H_
