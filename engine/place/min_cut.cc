#include "engine/place/min_cut.h"

#include <algorithm>

namespace tensord {
namespace {

constexpr int kUnreached = -1;

}  // namespace

MinCut::MinCut(int node_count) : node_count_(node_count) {}

void MinCut::AddEdge(int from, int to, double capacity) {
  if (capacity <= 0) return;
  edges_.push_back({from, to, capacity});
  edges_.push_back({to, from, 0});
}

std::vector<bool> MinCut::Solve() {
  Connect();
  while (FindLevels()) PushBlockingFlow();
  std::vector<bool> is_at_sink(node_count_);
  for (int node = 0; node < node_count_; ++node) {
    is_at_sink[node] = level_[node] == kUnreached;
  }
  return is_at_sink;
}

void MinCut::Connect() {
  first_out_.assign(node_count_ + 3, 0);
  for (Edge& edge : edges_) {
    edge.from = IndexOf(edge.from);
    edge.to = IndexOf(edge.to);
    ++first_out_[edge.from + 1];
  }
  for (size_t i = 1; i < first_out_.size(); ++i) {
    first_out_[i] += first_out_[i - 1];
  }
  out_.resize(edges_.size());
  std::vector<int> next(first_out_.begin(), first_out_.end() - 1);
  for (size_t e = 0; e < edges_.size(); ++e) {
    out_[next[edges_[e].from]++] = static_cast<int>(e);
  }
}

bool MinCut::FindLevels() {
  level_.assign(node_count_ + 2, kUnreached);
  std::vector<int> queue = {IndexOf(kSource)};
  level_[queue[0]] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    const int node = queue[head];
    for (int i = first_out_[node]; i < first_out_[node + 1]; ++i) {
      const Edge& edge = edges_[out_[i]];
      if (edge.residual <= 0 || level_[edge.to] != kUnreached) continue;
      level_[edge.to] = level_[node] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[IndexOf(kSink)] != kUnreached;
}

// Walks from the source along levels, without recursion since a graph may be
// one long chain. An edge that leads nowhere is not tried again in this phase.
void MinCut::PushBlockingFlow() {
  const int source = IndexOf(kSource);
  const int sink = IndexOf(kSink);
  std::vector<int> next(first_out_.begin(), first_out_.end() - 1);
  std::vector<int> path;
  for (;;) {
    const int node = path.empty() ? source : edges_[path.back()].to;
    if (node == sink) {
      double flow = edges_[path[0]].residual;
      for (int e : path) flow = std::min(flow, edges_[e].residual);
      size_t kept = path.size();
      for (size_t i = path.size(); i-- > 0;) {
        edges_[path[i]].residual -= flow;
        edges_[path[i] ^ 1].residual += flow;
        if (edges_[path[i]].residual <= 0) kept = i;
      }
      path.resize(kept);
      continue;
    }
    int& i = next[node];
    while (i < first_out_[node + 1] &&
           (edges_[out_[i]].residual <= 0 ||
            level_[edges_[out_[i]].to] != level_[node] + 1)) {
      ++i;
    }
    if (i < first_out_[node + 1]) {
      path.push_back(out_[i]);
    } else if (path.empty()) {
      return;
    } else {
      level_[node] = kUnreached;
      path.pop_back();
    }
  }
}

}  // namespace tensord
