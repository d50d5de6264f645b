#include "engine/passes/run_passes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/graph/status_macros.h"
#include "engine/passes/fold_batch_norm.h"
#include "engine/passes/fold_constants.h"
#include "engine/passes/fold_transposes.h"
#include "engine/passes/fuse_attention.h"
#include "engine/passes/fuse_elementwise.h"
#include "engine/passes/fuse_epilogue.h"
#include "engine/passes/fuse_gelu.h"
#include "engine/passes/fuse_layer_norm.h"
#include "engine/passes/fuse_qdq.h"
#include "engine/passes/fuse_skip_norm.h"
#include "engine/passes/pack_attention.h"
#include "engine/passes/pass_names.h"
#include "engine/passes/remove_dead_nodes.h"
#include "engine/passes/remove_no_ops.h"

namespace tensord {
namespace {

// A pass over a graph that is being edited; returns how many changes it made.
struct EditingPass {
  absl::string_view name;
  int (*run)(PassContext& context);
};

// Before weights that are integers become what they stand for.
constexpr EditingPass kIntegerPasses[] = {{kFuseQdq, &FuseQdq}};

// In their order: a pattern of nodes is found before its nodes go into another.
constexpr EditingPass kEditingPasses[] = {
    {kRemoveNoOps, &RemoveNoOps},     {kFuseLayerNorm, &FuseLayerNorm},
    {kFuseGelu, &FuseGelu},           {kFuseAttention, &FuseAttention},
    {kPackAttention, &PackAttention}, {kFoldTransposes, &FoldTransposes},
    {kFoldBatchNorm, &FoldBatchNorm}, {kFuseElementwise, &FuseElementwise},
    {kFuseEpilogue, &FuseEpilogue},   {kFuseSkipNorm, &FuseSkipNorm},
};

class PassRunner {
 public:
  PassRunner(const Graph& graph, Inference inference,
             const PassRequest& request)
      : request_(request),
        fold_limits_(request.limits),
        result_{graph, std::move(inference), {}} {}

  absl::StatusOr<PassResult> Run() {
    if (Has(OpKind::kQuantizeLinear) && IsEnabled(kFuseQdq)) {
      TENSORD_RETURN_IF_ERROR(Simplify(OpKind::kDequantizeLinear));
      TENSORD_RETURN_IF_ERROR(Edit(kIntegerPasses));
      if (Has(OpKind::kDequantizeLinear)) {
        TENSORD_RETURN_IF_ERROR(Simplify(std::nullopt));
      }
    } else {
      TENSORD_RETURN_IF_ERROR(Simplify(std::nullopt));
    }
    TENSORD_RETURN_IF_ERROR(Edit(kEditingPasses));
    TENSORD_RETURN_IF_ERROR(TurnChannelsLast());
    return std::move(result_);
  }

 private:
  bool IsEnabled(absl::string_view pass) const {
    return !request_.disabled.contains(std::string(pass));
  }

  absl::Status Infer() {
    TENSORD_ASSIGN_OR_RETURN(result_.inference, request_.infer(result_.graph));
    return absl::OkStatus();
  }

  bool Has(OpKind op) const {
    return std::any_of(result_.graph.nodes.begin(), result_.graph.nodes.end(),
                       [op](const Node& node) { return node.op == op; });
  }

  // Without what depends on constants alone, but for nodes of the kind `kept`,
  // and what nobody reads.
  absl::Status Simplify(std::optional<OpKind> kept) {
    const size_t before = NodeCount();
    Fold(kept);
    RemoveDead();
    if (NodeCount() == before) return absl::OkStatus();
    // Folding keeps value ids but makes new constants known.
    return Infer();
  }

  size_t NodeCount() const { return result_.graph.nodes.size(); }

  // All rounds together stay within one limit.
  void Fold(std::optional<OpKind> kept) {
    if (request_.evaluator == nullptr || !IsEnabled(kFoldConstants)) return;
    const size_t before = NodeCount();
    const uint64_t bytes_before = result_.graph.constant_bytes();
    result_.graph = FoldConstants(result_.graph, result_.inference,
                                  *request_.evaluator, fold_limits_, kept);
    const uint64_t bytes = result_.graph.constant_bytes();
    if (bytes > bytes_before) {
      fold_limits_.max_folded_bytes -=
          std::min(static_cast<int64_t>(bytes - bytes_before),
                   fold_limits_.max_folded_bytes);
    }
    Note(kFoldConstants,
         absl::StrCat("folded ", before - NodeCount(), " nodes"));
  }

  void RemoveDead() {
    if (!IsEnabled(kRemoveDeadNodes)) return;
    const size_t before = NodeCount();
    result_.graph = RemoveDeadNodes(result_.graph);
    Note(kRemoveDeadNodes,
         absl::StrCat("removed ", before - NodeCount(), " nodes"));
  }

  absl::Status Edit(absl::Span<const EditingPass> passes) {
    const uint64_t constant_bytes =
        result_.graph.constant_bytes() +
        static_cast<uint64_t>(request_.limits.max_folded_bytes);
    GraphEditor editor(std::move(result_.graph), std::move(result_.inference));
    PassContext context{editor, request_.find_kernel, constant_bytes};
    int changes = 0;
    for (const EditingPass& pass : passes) {
      if (!IsEnabled(pass.name)) continue;
      const size_t before = editor.node_count();
      const int made = pass.run(context);
      changes += made;
      Note(pass.name,
           absl::StrCat(made, made == 1 ? " change" : " changes", " left ",
                        editor.node_count(), " of ", before, " nodes"));
    }
    result_.inference = editor.inference();
    result_.graph = editor.Finish();
    if (changes == 0) return absl::OkStatus();
    // What was folded into others is of no use any more.
    if (IsEnabled(kRemoveDeadNodes)) {
      result_.graph = RemoveDeadNodes(result_.graph);
    }
    return Infer();
  }

  absl::Status TurnChannelsLast() {
    if (!IsEnabled(kChannelsLast) || !HasChannelsLastAnchor(result_.graph)) {
      return absl::OkStatus();
    }
    const size_t before = NodeCount();
    Graph turned = PropagateChannelsLast(result_.graph, result_.inference,
                                         request_.estimate);
    if (turned.values.size() == result_.graph.values.size()) {
      return absl::OkStatus();
    }
    result_.graph = RemoveDeadNodes(turned);
    Note(kChannelsLast, absl::StrCat(before, " nodes became ", NodeCount()));
    return Infer();
  }

  void Note(absl::string_view pass, std::string effect) {
    result_.notes.push_back({pass, std::move(effect)});
  }

  const PassRequest& request_;
  GraphLimits fold_limits_;
  PassResult result_;
};

}  // namespace

absl::StatusOr<PassResult> RunPasses(const Graph& graph, Inference inference,
                                     const PassRequest& request) {
  return PassRunner(graph, std::move(inference), request).Run();
}

}  // namespace tensord
