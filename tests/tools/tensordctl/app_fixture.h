#ifndef TENSORD_TESTS_TOOLS_TENSORDCTL_APP_FIXTURE_H_
#define TENSORD_TESTS_TOOLS_TENSORDCTL_APP_FIXTURE_H_

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "clients/cpp/tensors.h"
#include "tests/support/fake_daemon/fake_daemon.h"
#include "tests/tools/tensordctl/temp_folder.h"
#include "tools/tensordctl/app.h"
#include "tools/tensordctl/npy.h"

// The program on a command line, against a daemon that answers as it is told.
namespace tensord::ctl {

using Json = nlohmann::json;

struct Outcome {
  ExitCode code;
  std::string out;
  std::string err;

  Json json() const { return Json::parse(out); }
};

inline Outcome RunLine(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const ExitCode code = RunApp(arguments, {out, err});
  return {code, out.str(), err.str()};
}

// A graph x float32[N,3] -> y, which the fake daemon answers with x itself.
class AppTest : public ::testing::Test {
 protected:
  AppTest() {
    daemon.graph.set_name("net");
    daemon.graph.set_node_count(7);
    v1::ValueInfo& x = *daemon.graph.add_inputs();
    x.set_name("x");
    x.set_dtype(v1::DTYPE_FLOAT32);
    x.add_dims()->set_symbol("N");
    x.add_dims()->set_size(3);
    daemon.graph.add_outputs()->set_name("y");
    model = folder.Add("net.onnx", "these bytes are a model");
  }

  // Runs with the daemon's address, as the last option.
  Outcome Run(std::vector<std::string> arguments) {
    arguments.push_back("--address");
    arguments.push_back(daemon.address());
    return RunLine(arguments);
  }

  std::string AddNpy(const std::string& name, const v1::Tensor& tensor) {
    return folder.Add(name, *WriteNpy(tensor));
  }

  testing::FakeDaemon daemon;
  TempFolder folder;
  std::string model;
  const v1::Tensor row = MakeTensor<float>({1, 3}, {0.1f, 0.7f, 0.2f});
};

}  // namespace tensord::ctl

#endif  // TENSORD_TESTS_TOOLS_TENSORDCTL_APP_FIXTURE_H_
