// How long one model takes for a client of a daemon.
//
//   client_bench --address A --model M.onnx --data SET [--data SET ...]
//                [--seconds S]
//
// Submits the model, warms up, and then executes the data sets in turn, one
// call at a time over one connection. The time of a call is from the call to
// the answer in memory; the request is made once. One line of JSON.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "bench/models/bench_case.h"
#include "bench/models/run_times.h"
#include "clients/cpp/client.h"
#include "clients/cpp/leave_process.h"
#include "engine/graph/status_macros.h"
#include "nlohmann/json.hpp"

namespace tensord::bench {
namespace {

struct Options {
  std::string address;
  std::string model;
  std::vector<std::string> data;
  double seconds = 1.5;
};

// A cold run of a large model compiles it.
constexpr absl::Duration kPatience = absl::Minutes(10);

v1::ExecuteRequest MakeRequest(const std::string& graph_id,
                               const DataSet& set) {
  v1::ExecuteRequest request;
  request.set_graph_id(graph_id);
  for (const NamedTensor& named : set) {
    v1::ExecuteInput& input = *request.add_inputs();
    input.set_name(named.name);
    v1::Tensor& tensor = *input.mutable_tensor();
    // Both number their element types as ONNX does.
    tensor.set_dtype(static_cast<v1::DType>(named.tensor.dtype()));
    const Shape& shape = named.tensor.shape();
    for (int d = 0; d < shape.rank(); ++d) tensor.add_dims(shape[d]);
    tensor.set_data(named.tensor.bytes().data(), named.tensor.size_bytes());
  }
  return request;
}

absl::Status Bench(const Options& options) {
  TENSORD_ASSIGN_OR_RETURN(const std::vector<DataSet> data_sets,
                           ReadDataSets(options.data));
  TENSORD_ASSIGN_OR_RETURN(
      Client client, Client::Connect(options.address, {.timeout = kPatience}));
  std::vector<v1::ExecuteRequest> requests;
  {
    TENSORD_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(options.model));
    TENSORD_ASSIGN_OR_RETURN(const v1::SubmitGraphResponse submitted,
                             client.SubmitGraph(v1::GRAPH_FORMAT_ONNX, bytes));
    for (const DataSet& set : data_sets) {
      requests.push_back(MakeRequest(submitted.graph_id(), set));
    }
  }
  RunBudget budget;
  budget.measure = absl::Seconds(options.seconds);
  budget.warm_up = budget.measure / 5;
  TENSORD_ASSIGN_OR_RETURN(
      const RunTimes times,
      MeasureRuns(static_cast<int>(requests.size()), budget,
                  [&](int set) -> absl::StatusOr<int64_t> {
                    const int64_t start = NowNs();
                    const auto answer = client.Execute(requests[set]);
                    const int64_t ns = NowNs() - start;
                    if (!answer.ok()) return answer.status();
                    return ns;
                  }));
  nlohmann::ordered_json line = times.ToJson();
  line["peak_rss_mb"] = PeakRssMb();
  std::printf("%s\n", line.dump().c_str());
  return absl::OkStatus();
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App app("Times one ONNX model through a daemon.", "client_bench");
  app.add_option("--address", options.address, "host:port or unix:/path")
      ->required();
  app.add_option("--model", options.model, "The ONNX file")->required();
  app.add_option("--data", options.data,
                 "Folder of input_I.pb; several take turns")
      ->required();
  app.add_option("--seconds", options.seconds, "How long to measure")
      ->check(CLI::Range(0.01, 3600.0));
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Bench(options);
  if (!status.ok()) {
    std::fprintf(stderr, "client_bench: %s\n",
                 std::string(status.message()).c_str());
  }
  LeaveProcess(status.ok() ? 0 : 1);
}

}  // namespace
}  // namespace tensord::bench

int main(int argc, char** argv) { return tensord::bench::Main(argc, argv); }
