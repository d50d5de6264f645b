#include "tests/support/fake_daemon/fake_daemon.h"

#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "clients/cpp/graph_id.h"
#include "clients/cpp/sha256.h"

namespace tensord::testing {
namespace {

// The page of `all` that the token begins, which is an index.
template <typename T>
std::pair<std::vector<T>, std::string> Page(const std::vector<T>& all,
                                            const std::string& token,
                                            int page_size) {
  size_t begin = 0;
  if (!token.empty() && !absl::SimpleAtoi(token, &begin)) begin = all.size();
  const size_t end =
      std::min(all.size(), begin + static_cast<size_t>(page_size));
  return {std::vector<T>(all.begin() + begin, all.begin() + end),
          end < all.size() ? absl::StrCat(end) : ""};
}

}  // namespace

class FakeDaemon::Graphs : public v1::GraphService::Service {
 public:
  explicit Graphs(FakeDaemon& daemon) : daemon_(daemon) {}

  grpc::Status SubmitGraph(grpc::ServerContext* context,
                           const v1::SubmitGraphRequest* request,
                           v1::SubmitGraphResponse* response) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    const bool is_onnx = request->has_onnx();
    Answer(
        {.bytes =
             is_onnx ? request->onnx() : request->graph().SerializeAsString(),
         .format = is_onnx ? v1::GRAPH_FORMAT_ONNX : v1::GRAPH_FORMAT_TENSORD,
         .options = request->options()},
        *response);
    return grpc::Status::OK;
  }

  grpc::Status UploadGraph(grpc::ServerContext* context,
                           grpc::ServerReader<v1::UploadGraphRequest>* reader,
                           v1::SubmitGraphResponse* response) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    v1::UploadGraphRequest message;
    if (!reader->Read(&message) || !message.has_header()) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "no header"};
    }
    const v1::UploadGraphHeader header = message.header();
    std::string bytes;
    while (reader->Read(&message)) bytes += message.chunk();
    if (static_cast<int64_t>(bytes.size()) != header.size_bytes() ||
        Sha256(bytes) != header.sha256()) {
      return {grpc::StatusCode::INVALID_ARGUMENT, "not what was declared"};
    }
    Answer({.bytes = std::move(bytes),
            .by_upload = true,
            .format = header.format(),
            .options = header.options()},
           *response);
    return grpc::Status::OK;
  }

  grpc::Status GetGraph(grpc::ServerContext* context,
                        const v1::GetGraphRequest* request,
                        v1::GraphInfo* response) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    absl::MutexLock lock(&daemon_.mu_);
    for (const v1::GraphInfo& held : daemon_.held_) {
      if (held.graph_id() != request->graph_id()) continue;
      *response = held;
      return grpc::Status::OK;
    }
    return {grpc::StatusCode::NOT_FOUND,
            "no graph " + request->graph_id() + " is held"};
  }

  grpc::Status ListGraphs(grpc::ServerContext* context,
                          const v1::ListGraphsRequest* request,
                          v1::ListGraphsResponse* response) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    absl::MutexLock lock(&daemon_.mu_);
    ++daemon_.page_count_;
    auto [page, next] =
        Page(daemon_.held_, request->page_token(), daemon_.options_.page_size);
    for (v1::GraphInfo& graph : page) *response->add_graphs() = graph;
    response->set_next_page_token(next);
    return grpc::Status::OK;
  }

  grpc::Status DeleteGraph(grpc::ServerContext* context,
                           const v1::DeleteGraphRequest* request,
                           v1::DeleteGraphResponse*) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    absl::MutexLock lock(&daemon_.mu_);
    auto& held = daemon_.held_;
    const auto gone = std::remove_if(
        held.begin(), held.end(), [&](const v1::GraphInfo& graph) {
          return graph.graph_id() == request->graph_id();
        });
    if (gone == held.end()) {
      return {grpc::StatusCode::NOT_FOUND, "it is not held"};
    }
    held.erase(gone, held.end());
    return grpc::Status::OK;
  }

  grpc::Status ExplainGraph(grpc::ServerContext* context,
                            const v1::ExplainGraphRequest* request,
                            v1::ExplainGraphResponse* response) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    absl::MutexLock lock(&daemon_.mu_);
    ++daemon_.page_count_;
    daemon_.explain_requests_.push_back(*request);
    if (request->page_token().empty()) *response = daemon_.explanation;
    response->clear_nodes();
    const std::vector<v1::ExplainedNode> nodes(
        daemon_.explanation.nodes().begin(), daemon_.explanation.nodes().end());
    auto [page, next] =
        Page(nodes, request->page_token(), daemon_.options_.page_size);
    for (v1::ExplainedNode& node : page) *response->add_nodes() = node;
    response->set_next_page_token(next);
    return grpc::Status::OK;
  }

 private:
  void Answer(Submission submission, v1::SubmitGraphResponse& response) {
    *response.mutable_graph() = daemon_.graph;
    const std::string id = daemon_.Record(std::move(submission));
    response.set_graph_id(id);
    response.mutable_graph()->set_graph_id(id);
  }

  FakeDaemon& daemon_;
};

class FakeDaemon::Devices : public v1::DeviceService::Service {
 public:
  explicit Devices(FakeDaemon& daemon) : daemon_(daemon) {}

  grpc::Status ListDevices(grpc::ServerContext* context,
                           const v1::ListDevicesRequest*,
                           v1::ListDevicesResponse* response) override {
    *response = daemon_.devices;
    return daemon_.Begin(*context);
  }

  grpc::Status ListKernels(grpc::ServerContext* context,
                           const v1::ListKernelsRequest* request,
                           v1::ListKernelsResponse* response) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    absl::MutexLock lock(&daemon_.mu_);
    ++daemon_.page_count_;
    auto [page, next] = Page(daemon_.kernels, request->page_token(),
                             daemon_.options_.page_size);
    for (v1::Kernel& kernel : page) *response->add_kernels() = kernel;
    response->set_next_page_token(next);
    return grpc::Status::OK;
  }

 private:
  FakeDaemon& daemon_;
};

class FakeDaemon::Profile : public v1::ProfileService::Service {
 public:
  explicit Profile(FakeDaemon& daemon) : daemon_(daemon) {}

  grpc::Status GetOpProfile(grpc::ServerContext* context,
                            const v1::GetOpProfileRequest* request,
                            v1::OpProfile* response) override {
    {
      absl::MutexLock lock(&daemon_.mu_);
      daemon_.profile_requests_.push_back(*request);
      *response = daemon_.profile;
    }
    // It takes the lock itself.
    return daemon_.Begin(*context);
  }

  grpc::Status WatchOpProfile(
      grpc::ServerContext* context, const v1::WatchOpProfileRequest*,
      grpc::ServerWriter<v1::OpProfile>* writer) override {
    const grpc::Status status = daemon_.Begin(*context);
    if (!status.ok()) return status;
    for (const v1::OpProfile& profile : daemon_.watched) {
      writer->Write(profile);
    }
    return grpc::Status::OK;
  }

  grpc::Status ConfigureOpProfile(grpc::ServerContext* context,
                                  const v1::ConfigureOpProfileRequest* request,
                                  v1::OpProfileConfig* response) override {
    v1::OpProfileConfig& config = daemon_.profile_config;
    if (request->mode() != v1::OP_PROFILE_MODE_UNSPECIFIED) {
      config.set_mode(request->mode());
    }
    if (request->has_sample_every()) {
      config.set_sample_every(request->sample_every());
    }
    *response = config;
    return daemon_.Begin(*context);
  }

 private:
  FakeDaemon& daemon_;
};

FakeDaemon::FakeDaemon(Options options)
    : runs([this](grpc::ServerContext& context) { return Begin(context); },
           [this](const v1::ExecuteRequest& request,
                  v1::ExecuteResponse& response) {
             return Run(request, response);
           },
           options.page_size),
      sessions([this](grpc::ServerContext& context) { return Begin(context); }),
      tensors([this](grpc::ServerContext& context) { return Begin(context); },
              options.page_size),
      options_(options),
      graphs_(std::make_unique<Graphs>(*this)),
      device_service_(std::make_unique<Devices>(*this)),
      profile_service_(std::make_unique<Profile>(*this)) {
  grpc::EnableDefaultHealthCheckService(true);
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  builder.SetMaxReceiveMessageSize(options.max_message_bytes);
  builder.RegisterService(graphs_.get());
  builder.RegisterService(&runs);
  builder.RegisterService(&sessions);
  builder.RegisterService(&tensors);
  builder.RegisterService(device_service_.get());
  builder.RegisterService(profile_service_.get());
  server_ = builder.BuildAndStart();
  address_ = absl::StrCat("127.0.0.1:", port);
}

FakeDaemon::~FakeDaemon() {
  server_->Shutdown(absl::ToChronoTime(absl::Now()));
  server_->Wait();
}

std::vector<FakeDaemon::Submission> FakeDaemon::submissions() const {
  absl::MutexLock lock(&mu_);
  return submissions_;
}

std::vector<v1::ExplainGraphRequest> FakeDaemon::explain_requests() const {
  absl::MutexLock lock(&mu_);
  return explain_requests_;
}

std::vector<v1::GetOpProfileRequest> FakeDaemon::profile_requests() const {
  absl::MutexLock lock(&mu_);
  return profile_requests_;
}

int64_t FakeDaemon::page_count() const {
  absl::MutexLock lock(&mu_);
  return page_count_;
}

std::vector<std::string> FakeDaemon::traceparents() const {
  absl::MutexLock lock(&mu_);
  return traceparents_;
}

grpc::Status FakeDaemon::Begin(grpc::ServerContext& context) const {
  {
    const auto& metadata = context.client_metadata();
    const auto sent = metadata.find("traceparent");
    absl::MutexLock lock(&mu_);
    traceparents_.push_back(
        sent == metadata.end()
            ? ""
            : std::string(sent->second.data(), sent->second.size()));
  }
  // A synchronous handler learns only by asking that its call has ended.
  while (is_silent && !context.IsCancelled()) {
    absl::SleepFor(absl::Milliseconds(1));
  }
  if (failure.code() == 0) return grpc::Status::OK;
  // Below 0 it fails for ever.
  if (failing_calls >= 0 && failing_calls.fetch_sub(1) <= 0) {
    failing_calls = 0;
    return grpc::Status::OK;
  }
  return {static_cast<grpc::StatusCode>(failure.code()), failure.message(),
          failure.SerializeAsString()};
}

grpc::Status FakeDaemon::Run(const v1::ExecuteRequest& request,
                             v1::ExecuteResponse& response) const {
  if (knows_only_submitted) {
    absl::MutexLock lock(&mu_);
    const bool is_held =
        std::any_of(held_.begin(), held_.end(), [&](const v1::GraphInfo& held) {
          return held.graph_id() == request.graph_id();
        });
    if (!is_held) return FakeNotFound("graph", request.graph_id());
  }
  response.set_execution_id("fake.aaaaaaaaaaaaaaaaaaaaaaaaaa");
  response.set_device("cpu:0");
  response.set_batch_size(1);
  response.mutable_timings()->set_run_ns(12'345);
  if (execute) {
    execute(request, response);
    return grpc::Status::OK;
  }
  for (int i = 0; i < graph.outputs_size(); ++i) {
    v1::ExecuteOutput& output = *response.add_outputs();
    output.set_name(graph.outputs(i).name());
    if (i < request.inputs_size()) {
      *output.mutable_tensor() = request.inputs(i).tensor();
    }
  }
  return grpc::Status::OK;
}

std::string FakeDaemon::Record(Submission submission) {
  absl::MutexLock lock(&mu_);
  const std::string id =
      GraphId(submission.format, submission.bytes, submission.options);
  const bool is_held = std::any_of(
      held_.begin(), held_.end(),
      [&](const v1::GraphInfo& held) { return held.graph_id() == id; });
  if (!is_held && !forgets_at_once) {
    held_.push_back(graph);
    held_.back().set_graph_id(id);
  }
  submissions_.push_back(std::move(submission));
  return id;
}

void FakeDaemon::ForgetGraphs() {
  absl::MutexLock lock(&mu_);
  held_.clear();
}

google::rpc::Status Error(int code, const std::string& message) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  return status;
}

google::rpc::Status Error(int code, const std::string& message,
                          const google::protobuf::Message& detail) {
  google::rpc::Status status = Error(code, message);
  status.add_details()->PackFrom(detail);
  return status;
}

}  // namespace tensord::testing
