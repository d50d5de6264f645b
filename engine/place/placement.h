#ifndef TENSORD_ENGINE_PLACE_PLACEMENT_H_
#define TENSORD_ENGINE_PLACE_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"

namespace tensord {

// A graph as placement sees it. Devices, values and nodes are called by their
// index. All of this is plain values.

// What nodes can run on, and its link to host memory.
struct PlacementDevice {
  // Its kernels read and write host memory in place: nothing is ever copied
  // between it and the host, or another such device.
  bool is_host = false;
  // A copy of n bytes between it and the host, either way.
  double copy_latency_ns = 0;
  double copy_bytes_per_ns = 1;  // above 0

  double CopyNs(uint64_t size_bytes) const {
    return copy_latency_ns +
           static_cast<double>(size_bytes) / copy_bytes_per_ns;
  }
};

// An edge of the graph: a graph input, a weight, or what a node computes.
struct PlacementValue {
  uint64_t size_bytes = 0;
  // Where the bytes are before the first node runs; nowhere for what a node
  // computes, somewhere for all others.
  bool is_on_host = false;
  uint32_t resident_devices = 0;  // bit d: device d
  // The client gets it: it has to be on the host in the end.
  bool is_result = false;
};

struct PlacementNode {
  absl::InlinedVector<int32_t, 4> inputs;   // values; one may be there twice
  absl::InlinedVector<int32_t, 2> outputs;  // values; each of one node only
  // By device: what the node is estimated to take there, above 0. Nothing: no
  // kernel of that device takes it. A cost that is not known must be guessed
  // high, since 0 would draw every node there.
  absl::InlinedVector<std::optional<double>, 4> device_ns;
};

struct PlacementProblem {
  static constexpr int kMaxDevices = 32;

  std::vector<PlacementDevice> devices;
  std::vector<PlacementValue> values;
  std::vector<PlacementNode> nodes;  // in topological order
  // Bit d: the client wants device d. A node that some wanted device has a
  // kernel for runs on a wanted one; all others run where they can. 0: no wish.
  uint32_t wanted_devices = 0;
};

// A copy of a value's bytes. kHost stands for host memory.
struct PlacementTransfer {
  static constexpr int32_t kHost = -1;

  int32_t value = 0;
  int32_t from = kHost;
  int32_t to = kHost;
  double estimated_ns = 0;
  // The first node in order that needs it there; the number of nodes for a
  // result.
  int32_t before_node = 0;
};

struct NodePlacement {
  std::vector<int32_t> devices;  // by node
  // Nanoseconds of all nodes and of all transfers, one after the other.
  double total_ns = 0;
  std::vector<PlacementTransfer> transfers;  // in order of before_node
};

// OK, or kInvalidArgument with what is malformed: too many devices, an index
// or a resident device past the end, an estimate that is no time or above 1e18
// ns, a value that two nodes compute or that is read before it is there;
// kUnimplemented with the first node that has a kernel nowhere.
absl::Status CheckPlacementProblem(const PlacementProblem& problem);

// The copies that running each node on the given device takes.
//
// A value goes to host memory at most once and to each device at most once:
// from a device to another by way of the host, where it then stays for further
// devices. What is resident somewhere already is free there.
std::vector<PlacementTransfer> TransfersOf(const PlacementProblem& problem,
                                           absl::Span<const int32_t> devices);

// The sum of node times and transfers: what PlaceNodes minimises. The model is
// serial: nothing runs at the same time as anything else.
double PlacementNs(const PlacementProblem& problem,
                   absl::Span<const int32_t> devices,
                   absl::Span<const PlacementTransfer> transfers);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PLACE_PLACEMENT_H_
