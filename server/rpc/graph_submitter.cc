#include "server/rpc/graph_submitter.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "engine/onnx/onnx_reader.h"
#include "engine/passes/pass_names.h"
#include "server/errors/error_details.h"
#include "server/graph_codec/graph_from_proto.h"
#include "server/rpc/device_names.h"
#include "server/rpc/graph_handles.h"
#include "server/rpc/graph_messages.h"
#include "server/rpc/shape_binding.h"

namespace tensord {
namespace {

// As graph_service.proto says.
constexpr int kMaxDisabledPasses = 32;
constexpr int kMaxShapeHints = 16;
// What reading a graph takes beside its constants, as multiples of its bytes:
// these bytes, and what its parser makes of them.
constexpr uint64_t kCopiesOfGraph = 2;

absl::StatusOr<GraphDef> Decode(v1::GraphFormat format, absl::string_view bytes,
                                const GraphLimits& limits,
                                const GraphHandles::Tensors& tensors) {
  if (format == v1::GRAPH_FORMAT_ONNX) return ReadOnnx(bytes, limits);
  return GraphFromProto(bytes, limits, [&](absl::string_view id) {
    return CopyOfHandle(tensors, id);
  });
}

// CheckOptions has refused other numbers.
Precision ToEnginePrecision(v1::Precision precision) {
  switch (precision) {
    case v1::PRECISION_ALLOW_TF32:
      return Precision::kAllowTf32;
    case v1::PRECISION_ALLOW_BF16:
      return Precision::kAllowBf16;
    default:
      return Precision::kStrict;
  }
}

}  // namespace

CompileOptions ToEngineOptions(const v1::CompileOptions& options) {
  CompileOptions out;
  out.deterministic = options.deterministic();
  out.precision = ToEnginePrecision(options.precision());
  out.disabled_passes = {options.disabled_passes().begin(),
                         options.disabled_passes().end()};
  return out;
}

absl::Status GraphSubmitter::CheckOptions(
    const v1::CompileOptions& options) const {
  if (!v1::Precision_IsValid(options.precision())) {
    return BadField("options.precision",
                    absl::StrCat("there is none of number ",
                                 static_cast<int>(options.precision())));
  }
  if (options.disabled_passes_size() > kMaxDisabledPasses) {
    return BadField("options.disabled_passes",
                    absl::StrCat(options.disabled_passes_size(),
                                 " passes; give at most ", kMaxDisabledPasses));
  }
  for (const std::string& pass : options.disabled_passes()) {
    if (!IsOptionalPass(pass)) {
      return BadField("options.disabled_passes",
                      absl::StrCat("there is no pass ", Quoted(pass),
                                   " to leave out; there are ",
                                   absl::StrJoin(kOptionalPasses, ", ")));
    }
  }
  if (options.shape_hints_size() > kMaxShapeHints) {
    return BadField("options.shape_hints",
                    absl::StrCat(options.shape_hints_size(),
                                 " hints; give at most ", kMaxShapeHints));
  }
  return FindDevice(environment_.engine, options.device()).status();
}

void GraphSubmitter::Submit(Received received, Done done) {
  auto shared = std::make_shared<Received>(std::move(received));
  if (environment_.host_memory != nullptr) {
    auto memory = environment_.host_memory->Take(
        kCopiesOfGraph * shared->bytes.size(), "reading a graph");
    if (!memory.ok()) return std::move(done)(memory.status());
    shared->memory = *std::move(memory);
  }
  absl::StatusOr<GraphHandles> handles;
  if (shared->format == v1::GRAPH_FORMAT_TENSORD) {
    handles = FindGraphHandles(shared->bytes, shared->principal, environment_);
    if (!handles.ok()) return std::move(done)(handles.status());
  } else {
    handles.emplace();  // ONNX has none
  }
  const std::string id = GraphIdOf(shared->format, shared->digest,
                                   shared->options, handles->hashes);
  auto fresh = std::make_shared<GraphFacts>();
  fresh->format = shared->format;
  fresh->options = shared->options;
  fresh->NoteUse(absl::GetCurrentTimeNanos());
  const std::string& principal = shared->principal;
  std::shared_ptr<GraphFacts> facts = facts_.Insert(
      id, std::move(fresh), [this, &principal](const std::string& known) {
        return environment_.engine.FindGraph(known, principal).ok();
      });
  facts->NoteUse(absl::GetCurrentTimeNanos());

  Engine::Submission submission;
  submission.id = id;
  submission.principal = shared->principal;
  submission.source_bytes = shared->bytes.size();
  submission.options = ToEngineOptions(shared->options);
  submission.decode = [shared, facts, tensors = std::move(handles->tensors),
                       &limits = environment_.engine.options().limits]() {
    absl::StatusOr<GraphDef> graph =
        Decode(shared->format, shared->bytes, limits, tensors);
    if (graph.ok()) facts->opset_version = graph->opset;
    // Weights are copies by now; the received bytes are not kept beside them.
    std::string().swap(shared->bytes);
    shared->memory.Release();
    return graph;
  };
  environment_.engine.SubmitGraph(
      std::move(submission),
      [this, id, shared, done = std::move(done)](
          absl::StatusOr<Engine::SubmitOutcome> outcome) mutable {
        if (outcome.ok()) {
          CompileForHints(*std::move(outcome), std::move(shared),
                          std::move(done));
          return;
        }
        if (!environment_.engine.FindGraph(id, shared->principal).ok()) {
          facts_.Erase(id);
        }
        std::move(done)(outcome.status());
      });
}

void GraphSubmitter::CompileForHints(Engine::SubmitOutcome outcome,
                                     std::shared_ptr<const Received> received,
                                     Done done) {
  const v1::CompileOptions& options = received->options;
  if (options.shape_hints().empty()) {
    std::move(done)(ResponseFor(outcome));
    return;
  }
  // Shapes may be given by symbols, so the graph had to be known first. It is
  // now, and is not decoded again.
  Engine::Submission submission;
  submission.id = outcome.graph->id();
  submission.principal = received->principal;
  submission.source_bytes = outcome.graph->source_bytes();
  submission.options = outcome.graph->options();
  for (const v1::ShapeBinding& hint : options.shape_hints()) {
    absl::StatusOr<std::vector<Shape>> shapes =
        ResolveShapes(*outcome.graph, hint);
    if (!shapes.ok()) {
      std::move(done)(shapes.status());
      return;
    }
    submission.compile_for.push_back(*std::move(shapes));
  }
  submission.decode = [] {
    return absl::AbortedError(
        "the graph was dropped while it was compiled for its shape hints; "
        "submit it again");
  };
  environment_.engine.SubmitGraph(
      std::move(submission),
      [this, first = std::move(outcome), done = std::move(done)](
          absl::StatusOr<Engine::SubmitOutcome> second) mutable {
        if (!second.ok()) {
          std::move(done)(second.status());
          return;
        }
        second->already_known = first.already_known;
        second->compile_time += first.compile_time;
        std::move(done)(ResponseFor(*second));
      });
}

v1::SubmitGraphResponse GraphSubmitter::ResponseFor(
    const Engine::SubmitOutcome& outcome) {
  v1::SubmitGraphResponse response;
  response.set_graph_id(outcome.graph->id());
  response.set_already_known(outcome.already_known);
  FillGraphInfo(*outcome.graph, facts_.Find(outcome.graph->id()).get(),
                *response.mutable_graph());
  FillDuration(outcome.compile_time, *response.mutable_compile_duration());
  return response;
}

absl::StatusOr<v1::SubmitGraphResponse> GraphSubmitter::FindHeld(
    const std::string& id, absl::string_view principal) {
  TENSORD_ASSIGN_OR_RETURN(std::shared_ptr<const LoadedGraph> graph,
                           environment_.engine.FindGraph(id, principal));
  return ResponseFor({std::move(graph), true, absl::ZeroDuration()});
}

}  // namespace tensord
