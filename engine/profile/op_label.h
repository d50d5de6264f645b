#ifndef TENSORD_ENGINE_PROFILE_OP_LABEL_H_
#define TENSORD_ENGINE_PROFILE_OP_LABEL_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "backends/api/op_kind.h"

namespace tensord::op_profile {

// What a launch is charged to: an operator, or the replay of a whole program,
// which is no operator of any graph.
//
// Threading and ownership: a plain value.
class OpLabel {
 public:
  static constexpr int kCount = kOpKindCount + 1;

  // Implicit: nearly every launch is an operator's.
  constexpr OpLabel(OpKind op) : index_(static_cast<uint16_t>(op)) {}
  static constexpr OpLabel ProgramReplay() {
    return OpLabel(static_cast<uint16_t>(kOpKindCount));
  }
  static constexpr OpLabel FromIndex(uint16_t index) { return OpLabel(index); }

  // Dense, from 0 to kCount - 1.
  constexpr uint16_t index() const { return index_; }
  constexpr bool is_program_replay() const { return index_ == kOpKindCount; }

  absl::string_view name() const {
    return is_program_replay() ? "program_replay"
                               : OpKindName(static_cast<OpKind>(index_));
  }

  friend constexpr bool operator==(OpLabel, OpLabel) = default;
  friend constexpr auto operator<=>(OpLabel, OpLabel) = default;
  template <typename H>
  friend H AbslHashValue(H h, OpLabel label) {
    return H::combine(std::move(h), label.index_);
  }

 private:
  explicit constexpr OpLabel(uint16_t index) : index_(index) {}

  uint16_t index_;
};

}  // namespace tensord::op_profile

#endif  // TENSORD_ENGINE_PROFILE_OP_LABEL_H_
