#include "server/rpc/graph_service.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "engine/graph/escape.h"
#include "engine/graph/status_macros.h"
#include "server/errors/error_details.h"
#include "server/rpc/api_services.h"
#include "server/rpc/device_names.h"
#include "server/rpc/graph_messages.h"
#include "server/rpc/graph_upload.h"
#include "server/rpc/page_token.h"
#include "server/rpc/shape_binding.h"
#include "server/rpc/unary_call.h"
#include "tensord/v1/graph_service.pb.h"
#include "tensord/wire/submit_graph.pb.h"

namespace tensord {
namespace {

// As graph_service.proto says.
constexpr int kListPageSize = 50;
constexpr int kMaxListPageSize = 1000;
constexpr int kExplainPageSize = 1000;
constexpr int kMaxExplainPageSize = 10'000;

using Submit = UnaryCall<wire::SubmitGraphRequest, v1::SubmitGraphResponse>;
using Get = UnaryCall<v1::GetGraphRequest, v1::GraphInfo>;
using List = UnaryCall<v1::ListGraphsRequest, v1::ListGraphsResponse>;
using Delete = UnaryCall<v1::DeleteGraphRequest, v1::DeleteGraphResponse>;
using Explain = UnaryCall<v1::ExplainGraphRequest, v1::ExplainGraphResponse>;

absl::Status CheckGraphId(absl::string_view id) {
  if (IsGraphId(id)) return absl::OkStatus();
  return BadField("graph_id",
                  absl::StrCat(Quoted(id),
                               " is no graph id; give the 64 lower-case "
                               "hexadecimal digits that SubmitGraph answered"));
}

absl::StatusOr<std::shared_ptr<const LoadedGraph>> FindGraph(
    Engine& engine, absl::string_view id, absl::string_view principal) {
  TENSORD_RETURN_IF_ERROR(CheckGraphId(id));
  auto graph = engine.FindGraph(id, principal);
  if (absl::IsNotFound(graph.status())) return ResourceNotFound("graph", id);
  return graph;
}

void SubmitGraph(GraphSubmitter& submitter, Submit& call) {
  wire::SubmitGraphRequest& request = call.mutable_request();
  GraphSubmitter::Received received;
  switch (request.source_case()) {
    case wire::SubmitGraphRequest::kGraph:
      received.format = v1::GRAPH_FORMAT_TENSORD;
      received.bytes = std::move(*request.mutable_graph());
      break;
    case wire::SubmitGraphRequest::kOnnx:
      received.format = v1::GRAPH_FORMAT_ONNX;
      received.bytes = std::move(*request.mutable_onnx());
      break;
    case wire::SubmitGraphRequest::SOURCE_NOT_SET:
      call.End(BadField("source", "there is no graph; give graph or onnx"));
      return;
  }
  received.options = request.options();
  if (absl::Status status = submitter.CheckOptions(received.options);
      !status.ok()) {
    call.End(std::move(status));
    return;
  }
  received.digest = Sha256Of(received.bytes);
  received.principal = std::string(call.principal());
  submitter.Submit(std::move(received),
                   [&call](absl::StatusOr<v1::SubmitGraphResponse> response) {
                     if (response.ok()) call.response() = *std::move(response);
                     call.End(response.status());
                   });
}

absl::Status ListGraphs(Engine& engine, GraphSubmitter& submitter, List& call) {
  const v1::ListGraphsRequest& request = call.request();
  constexpr absl::string_view kScope = "ListGraphs";
  TENSORD_ASSIGN_OR_RETURN(
      const int page_size,
      PageSize(request.page_size(), kListPageSize, kMaxListPageSize));
  TENSORD_ASSIGN_OR_RETURN(const std::string after,
                           ReadPageToken(kScope, request.page_token()));
  const auto graphs = engine.ListGraphs(call.principal(), after, page_size + 1);
  for (const auto& graph : graphs) {
    if (call.response().graphs_size() == page_size) {
      call.response().set_next_page_token(MakePageToken(
          kScope, call.response().graphs(page_size - 1).graph_id()));
      break;
    }
    FillGraphInfo(*graph, submitter.facts().Find(graph->id()).get(),
                  *call.response().add_graphs());
  }
  return absl::OkStatus();
}

absl::Status DeleteGraph(Engine& engine, GraphSubmitter& submitter,
                         Delete& call) {
  const v1::DeleteGraphRequest& request = call.request();
  TENSORD_RETURN_IF_ERROR(CheckGraphId(request.graph_id()));
  const absl::Status status =
      engine.DeleteGraph(request.graph_id(), call.principal());
  if (status.ok()) submitter.facts().Erase(request.graph_id());
  if (!absl::IsNotFound(status)) return status;
  if (request.allow_missing()) return absl::OkStatus();
  return ResourceNotFound("graph", request.graph_id());
}

// One page of the explanation, once it is there.
absl::Status FillPage(const Explanation& explanation, absl::string_view scope,
                      Explain& call) {
  const v1::ExplainGraphRequest& request = call.request();
  TENSORD_ASSIGN_OR_RETURN(
      const int page_size,
      PageSize(request.page_size(), kExplainPageSize, kMaxExplainPageSize));
  const int64_t node_count = static_cast<int64_t>(explanation.nodes.size());
  TENSORD_ASSIGN_OR_RETURN(
      const int64_t first,
      ReadRowToken(scope, request.page_token(), node_count));
  const int64_t end = std::min<int64_t>(first + page_size, node_count);
  if (first == 0) FillExplanation(explanation, call.response());
  for (int64_t i = first; i < end; ++i) {
    FillExplainedNode(explanation.nodes[i], i, *call.response().add_nodes());
  }
  if (end < node_count) {
    call.response().set_next_page_token(
        MakePageToken(scope, absl::StrCat(end)));
  }
  return absl::OkStatus();
}

// What two pages of one explanation have in common.
std::string ExplainScope(const v1::ExplainGraphRequest& request) {
  v1::ExplainGraphRequest same = request;
  same.clear_page_token();
  same.clear_page_size();
  // Its map has no order of its own on the wire.
  std::string scope;
  {
    google::protobuf::io::StringOutputStream stream(&scope);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.SetSerializationDeterministic(true);
    same.SerializeToCodedStream(&out);
  }
  return absl::StrCat("ExplainGraph", scope);
}

absl::Status StartExplain(Engine& engine, Explain& call) {
  const v1::ExplainGraphRequest& request = call.request();
  TENSORD_ASSIGN_OR_RETURN(
      std::shared_ptr<const LoadedGraph> graph,
      FindGraph(engine, request.graph_id(), call.principal()));
  if (request.deterministic() && !graph->options().deterministic) {
    return FeatureOff(
        "Explaining a graph as deterministic that was not submitted so");
  }
  TENSORD_ASSIGN_OR_RETURN(const DeviceWish wish,
                           FindDevice(engine, request.device()));
  TENSORD_ASSIGN_OR_RETURN(std::vector<Shape> shapes,
                           ResolveShapes(*graph, request.shapes()));
  engine.ExplainGraph(
      std::move(graph), shapes, wish,
      [&call, shapes](absl::StatusOr<Explanation> explanation) {
        if (!explanation.ok()) {
          call.End(explanation.status());
          return;
        }
        call.End(FillPage(*explanation, ExplainScope(call.request()), call));
      });
  return absl::OkStatus();
}

}  // namespace

std::unique_ptr<RawService> MakeGraphService(
    const ServiceEnvironment& environment, GraphSubmitter& submitter) {
  Engine& engine = environment.engine;
  auto service = std::make_unique<RawService>(
      environment, *v1::GraphInfo::descriptor()->file()->service(0));
  service->SetUnary("SubmitGraph", Submit::Bind(service->record("SubmitGraph"),
                                                [&submitter](Submit& call) {
                                                  SubmitGraph(submitter, call);
                                                }));
  service->SetClientStream(
      "UploadGraph",
      MakeUploadHandler(service->record("UploadGraph"), submitter));
  service->SetUnary(
      "GetGraph",
      Get::BindDirect(
          service->record("GetGraph"),
          [&engine, &submitter](Get& call, const v1::GetGraphRequest& request,
                                v1::GraphInfo& info) -> absl::Status {
            TENSORD_ASSIGN_OR_RETURN(
                const auto graph,
                FindGraph(engine, request.graph_id(), call.principal()));
            FillGraphInfo(*graph, submitter.facts().Find(graph->id()).get(),
                          info);
            return absl::OkStatus();
          }));
  service->SetUnary("ListGraphs",
                    List::Bind(service->record("ListGraphs"),
                               [&engine, &submitter](List& call) {
                                 call.End(ListGraphs(engine, submitter, call));
                               }));
  service->SetUnary(
      "DeleteGraph",
      Delete::Bind(service->record("DeleteGraph"),
                   [&engine, &submitter](Delete& call) {
                     call.End(DeleteGraph(engine, submitter, call));
                   }));
  service->SetUnary(
      "ExplainGraph",
      Explain::Bind(service->record("ExplainGraph"), [&engine](Explain& call) {
        // Ended by the engine's answer unless it does not get that far.
        absl::Status status = StartExplain(engine, call);
        if (!status.ok()) call.End(std::move(status));
      }));
  return service;
}

}  // namespace tensord
