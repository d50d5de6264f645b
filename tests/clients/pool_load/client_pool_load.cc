// client_pool_load MODEL THREADS ADDRESS...
//
// Runs MODEL, the classifier of models/digits, over a ClientPool of the
// addresses, from so many threads, until its standard input ends. Then prints
// how it went as one line of JSON: calls answered, calls failed and why, and
// the longest call.

#include <algorithm>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "clients/cpp/client_pool.h"
#include "clients/cpp/leave_process.h"
#include "clients/cpp/tensors.h"

namespace tensord {
namespace {

struct Counts {
  int64_t answered = 0;
  int64_t failed = 0;
  std::map<std::string, int64_t> reasons;
  absl::Duration longest;

  void Add(const Counts& other) {
    answered += other.answered;
    failed += other.failed;
    for (const auto& [reason, count] : other.reasons) reasons[reason] += count;
    longest = std::max(longest, other.longest);
  }
};

v1::ExecuteRequest Request(const GraphSource& graph) {
  v1::ExecuteRequest request;
  request.set_graph_id(graph.graph_id());
  v1::ExecuteInput& input = *request.add_inputs();
  input.set_name("image");
  *input.mutable_tensor() =
      MakeTensor<float>({1, 1, 8, 8}, std::vector<float>(64, 0.5f));
  return request;
}

Counts Load(ClientPool& pool, const GraphSource& graph,
            const absl::Notification& end) {
  Counts counts;
  const v1::ExecuteRequest request = Request(graph);
  while (!end.HasBeenNotified()) {
    const absl::Time start = absl::Now();
    const auto response =
        pool.Execute(graph, request, {.timeout = absl::Seconds(20)});
    counts.longest = std::max(counts.longest, absl::Now() - start);
    if (response.ok() && response->outputs_size() == 1) {
      ++counts.answered;
    } else {
      ++counts.failed;
      ++counts.reasons[response.status().ToString()];
    }
    // A load that takes a part of the machine: the daemons share it.
    absl::SleepFor(absl::Milliseconds(2));
  }
  return counts;
}

std::string Json(const Counts& counts) {
  std::string reasons;
  for (const auto& [reason, count] : counts.reasons) {
    std::string text;
    for (const char c : reason) text += c == '"' || c == '\\' ? '\'' : c;
    absl::StrAppend(&reasons, reasons.empty() ? "" : ", ", "\"", count, " x ",
                    text, "\"");
  }
  return absl::StrCat(
      "{\"answered\": ", counts.answered, ", \"failed\": ", counts.failed,
      ", \"reasons\": [", reasons,
      "], \"longest_ms\": ", absl::ToInt64Milliseconds(counts.longest), "}");
}

int Main(int argc, char** argv) {
  int thread_count = 0;
  if (argc < 4 || !absl::SimpleAtoi(argv[2], &thread_count)) {
    std::cerr << "usage: client_pool_load MODEL THREADS ADDRESS...\n";
    return 1;
  }
  std::ifstream file(argv[1], std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  const GraphSource graph(v1::GRAPH_FORMAT_ONNX, bytes.str());
  auto pool =
      ClientPool::Connect(std::vector<std::string>(argv + 3, argv + argc));
  if (!pool.ok()) {
    std::cerr << pool.status() << "\n";
    return 1;
  }
  absl::Notification end;
  absl::Mutex mu;
  Counts all;
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&] {
      const Counts counts = Load(**pool, graph, end);
      absl::MutexLock lock(&mu);
      all.Add(counts);
    });
  }
  std::cin.ignore(std::numeric_limits<std::streamsize>::max());
  end.Notify();
  for (std::thread& thread : threads) thread.join();
  std::cout << Json(all) << std::endl;
  return 0;
}

}  // namespace
}  // namespace tensord

int main(int argc, char** argv) {
  tensord::LeaveProcess(tensord::Main(argc, argv));
}
