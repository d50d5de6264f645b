// A daemon as far as tensord_conformance can see, for what the real one does
// not do on demand: dying and hanging. See moods.h.

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "clients/cpp/tensors.h"
#include "tests/support/fake_daemon/fake_daemon.h"
#include "tests/tools/conformance/moods.h"

namespace tensord::conformance {
namespace {

void Answer(const std::string& memory_file, const v1::ExecuteRequest& request,
            v1::ExecuteResponse& response) {
  const v1::Tensor& input = request.inputs(0).tensor();
  float mood = 0;
  if (input.data().size() >= sizeof(mood)) {
    std::memcpy(&mood, input.data().data(), sizeof(mood));
  }
  if (mood == kDies) {
    std::cerr << "these are the last words\n";
    raise(SIGKILL);
  }
  if (mood == kDiesOnce && !std::filesystem::exists(memory_file)) {
    std::ofstream remember(memory_file);
    remember.close();
    raise(SIGKILL);
  }
  if (mood == kHangs) absl::SleepFor(absl::Seconds(100));
  for (const v1::ExecuteInput& each : request.inputs()) {
    v1::ExecuteOutput& output = *response.add_outputs();
    output.set_name("y");
    *output.mutable_tensor() = each.tensor();
    if (mood == kAnswersWrong) {
      output.mutable_tensor()->mutable_data()->back() ^= 1;
    }
  }
}

int Serve(const std::string& port_file) {
  testing::FakeDaemon daemon;
  daemon.graph.set_name("any");
  // Kept beside the port file, so that the next daemon knows of it.
  daemon.execute = [memory_file = port_file + ".died"](
                       const v1::ExecuteRequest& request,
                       v1::ExecuteResponse& response) {
    Answer(memory_file, request, response);
  };
  const std::string unready = port_file + ".tmp";
  std::ofstream(unready) << nlohmann::json{{"grpc", {daemon.address()}}};
  std::filesystem::rename(unready, port_file);
  for (;;) pause();
}

}  // namespace
}  // namespace tensord::conformance

int main(int argc, char** argv) {
  signal(SIGTERM, [](int) { _exit(0); });
  std::string port_file;
  for (int i = 1; i < argc; ++i) {
    absl::string_view argument = argv[i];
    if (absl::ConsumePrefix(&argument, "--port-file=")) {
      port_file = std::string(argument);
    }
  }
  if (port_file.empty()) {
    std::cerr << "no --port-file\n";
    return 2;
  }
  return tensord::conformance::Serve(port_file);
}
