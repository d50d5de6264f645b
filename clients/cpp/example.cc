#include <google/protobuf/text_format.h>

#include <iostream>

#include "clients/cpp/client.h"
#include "clients/cpp/leave_process.h"
#include "clients/cpp/tensors.h"

// Runs y = max(x, 0) on a daemon, and prints "0 2.5".
absl::Status RunRelu(const char* address) {
  auto client = tensord::Client::Connect(address);
  if (!client.ok()) return client.status();
  tensord::v1::Graph graph;
  google::protobuf::TextFormat::ParseFromString(R"(
      opset_version: 13
      inputs { name: "x" dtype: DTYPE_FLOAT32 dims { symbol: "N" } }
      nodes { op: "Relu" inputs: "x" outputs: "y" }
      outputs: "y")",
                                                &graph);
  const auto submitted = client->SubmitGraph(graph);
  if (!submitted.ok()) return submitted.status();

  tensord::v1::ExecuteRequest request;
  request.set_graph_id(submitted->graph_id());
  request.add_inputs()->set_name("x");
  *request.mutable_inputs(0)->mutable_tensor() =
      tensord::MakeTensor<float>({2}, {-1.0f, 2.5f});
  const auto response = client->Execute(request, {.timeout = absl::Seconds(5)});
  if (!response.ok()) return response.status();
  const auto y = tensord::TensorValues<float>(response->outputs(0).tensor());
  if (!y.ok()) return y.status();
  std::cout << (*y)[0] << " " << (*y)[1] << "\n";
  return absl::OkStatus();
}

int main(int argc, char** argv) {
  const absl::Status status =
      RunRelu(argc > 1 ? argv[1] : tensord::kDefaultAddress);
  if (!status.ok()) std::cerr << status << "\n";
  tensord::LeaveProcess(status.ok() ? 0 : 1);
}
