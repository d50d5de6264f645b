#ifndef TENSORD_ENGINE_OPS_OP_DEF_H_
#define TENSORD_ENGINE_OPS_OP_DEF_H_

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/api/op_kind.h"
#include "backends/api/op_params.h"

namespace tensord {

class InferContext;
class NodeReader;

// What the engine knows of an operator, whatever runs it: how its attributes
// are read, in every version of the operator set, and what its outputs look
// like. One file per operator or family in engine/ops, one line in op_list.h.
//
// Threading: immutable; every function may be called from many threads at once.
struct OpDef {
  static constexpr int kVariadic = 1 << 20;

  OpKind op;
  int min_inputs;  // that a client gives, whatever the operator set
  int max_inputs;
  int min_outputs = 1;
  int max_outputs = 1;

  // The attributes as typed parameters. Brings older operator versions to the
  // newest form: an attribute that became an input is added as a constant input
  // (NodeReader::SetConstantInput). Null: NoParams, no attribute allowed.
  absl::StatusOr<OpParams> (*read)(NodeReader& node) = nullptr;

  // Inputs below this are there once `read` has brought an older version to the
  // newest form, where that made some of them of attributes; those below
  // min_inputs are there in any case. The graph builder refuses nodes without.
  int required_inputs = 0;

  // dtypes and shapes of the outputs from those of the inputs, all of which are
  // ranked. kInvalidArgument says what does not fit, with the numbers; the
  // caller puts the node's name in front.
  absl::Status (*infer)(InferContext& context) = nullptr;

  // Output 0 has input 0's elements in the same order: only the shape differs.
  // Such a node launches nothing; its output lives where its input does. Where
  // somebody wants another output as well, it is a node like any other.
  bool is_view = false;

  // Some outputs' extents may depend on the data
  // (InferContext::DataDependentDim): a segment ends at each node where they
  // do.
  bool has_data_dependent_extents = false;

  // It runs graphs, or handles sequences and optionals: no kernel, no shape
  // rule; engine/flow does it between two stages of an execution.
  bool is_flow = false;

  // Attributes that hold graphs, in order; null where there are fewer.
  std::array<const char*, 2> body_attributes = {};

  // The same inputs give the same outputs, so it may be folded when all inputs
  // are constant. False for RandomNormal and its like.
  bool is_pure = true;
};

}  // namespace tensord

#endif  // TENSORD_ENGINE_OPS_OP_DEF_H_
