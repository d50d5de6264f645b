#ifndef TENSORD_ENGINE_PLACE_MIN_CUT_H_
#define TENSORD_ENGINE_PLACE_MIN_CUT_H_

#include <vector>

namespace tensord {

// The cheapest way to divide the nodes of a network into those on the source's
// side and those on the sink's: the sum of the capacities of the edges that
// lead from the first to the second is as small as it can be. By the maximum
// flow, after Dinic (1970): breadth-first levels, and a blocking flow in each.
//
// Threading: one thread. Ownership: a plain value.
// Cost: O(edges) memory; phases are at most as many as nodes, usually a few.
class MinCut {
 public:
  // Nodes are 0 to node_count - 1; AddNode() makes more.
  explicit MinCut(int node_count);

  int AddNode() { return node_count_++; }

  // Costs `capacity` when `from` is on the source's side and `to` on the
  // sink's. At least 0; infinity never is cut, and no path may consist of such
  // edges alone. An edge of 0 is left out.
  void AddEdge(int from, int to, double capacity);

  // Costs that when the node is on the source's side.
  void AddCostAtSource(int node, double cost) { AddEdge(node, kSink, cost); }
  void AddCostAtSink(int node, double cost) { AddEdge(kSource, node, cost); }

  // By node: whether it is on the sink's side. Where several cuts are equal,
  // the one with the fewest nodes at the source. Called once.
  std::vector<bool> Solve();

 private:
  static constexpr int kSource = -1;
  static constexpr int kSink = -2;

  struct Edge {
    int from = 0;
    int to = 0;
    double residual = 0;
  };

  // Source and sink come behind the nodes, once their number is known.
  int IndexOf(int node) const {
    return node >= 0 ? node : node_count_ - node - 1;
  }
  void Connect();
  // Levels from the source; false when the sink has none.
  bool FindLevels();
  void PushBlockingFlow();

  int node_count_;
  std::vector<Edge> edges_;  // edge e and its reverse e ^ 1
  std::vector<int> first_out_;
  std::vector<int> out_;  // edges by their tail
  std::vector<int> level_;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_PLACE_MIN_CUT_H_
