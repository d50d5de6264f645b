#ifndef TENSORD_ENGINE_FLOW_FLOW_VALUE_H_
#define TENSORD_ENGINE_FLOW_FLOW_VALUE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/exec/execution.h"

namespace tensord {

// Bytes that the values between the stages of one execution may hold together:
// what a loop accumulates has no bound that is known before it runs.
//
// Threading: thread-safe: a lane may drop the last value of a run that was
// given up. Ownership: shared by the values charged to it.
class FlowBudget {
 public:
  // What a tensor costs beyond its bytes, so that empty ones are not free.
  static constexpr uint64_t kTensorOverhead = 256;

  explicit FlowBudget(uint64_t limit) : limit_(limit) {}

  // kResourceExhausted above the limit, with what was asked and what is in use.
  absl::Status Charge(uint64_t bytes);
  void Release(uint64_t bytes) { used_ -= bytes; }

  uint64_t used() const { return used_; }

 private:
  const uint64_t limit_;
  std::atomic<uint64_t> used_{0};
};

// A tensor between two stages, in host memory, charged while it lives.
// Threading: immutable. Ownership: shared by the values that refer to it.
class FlowTensor {
 public:
  // `budget` has been charged its bytes and kTensorOverhead.
  FlowTensor(HostValue value, std::shared_ptr<FlowBudget> budget)
      : value_(std::move(value)),
        charged_(value_.bytes.size() + FlowBudget::kTensorOverhead),
        budget_(std::move(budget)) {}
  ~FlowTensor() { budget_->Release(charged_); }
  FlowTensor(const FlowTensor&) = delete;
  FlowTensor& operator=(const FlowTensor&) = delete;

  DType dtype() const { return value_.dtype; }
  const Shape& shape() const { return value_.shape; }
  absl::Span<const std::byte> bytes() const { return value_.bytes.bytes(); }

  // The value itself, for its last holder.
  HostValue Take() { return std::move(value_); }

 private:
  HostValue value_;
  const uint64_t charged_;
  const std::shared_ptr<FlowBudget> budget_;
};

// What an edge of a graph with control flow carries: a tensor, a sequence of
// tensors, or nothing (an optional without a value).
// Threading: immutable parts, one thread. Ownership: shares its parts.
struct FlowValue {
  using Sequence = std::vector<std::shared_ptr<FlowTensor>>;

  std::shared_ptr<FlowTensor> tensor;
  std::shared_ptr<const Sequence> sequence;

  bool is_tensor() const { return tensor != nullptr; }
  bool is_sequence() const { return sequence != nullptr; }
  bool is_absent() const { return tensor == nullptr && sequence == nullptr; }
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_FLOW_FLOW_VALUE_H_
