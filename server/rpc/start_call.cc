#include "server/rpc/start_call.h"

#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <utility>

#include "engine/graph/status_macros.h"
#include "engine/profile/clock.h"
#include "server/rpc/execute_request.h"
#include "server/rpc/execution_messages.h"
#include "server/rpc/flow_of.h"
#include "server/rpc/message_io.h"
#include "server/rpc/principal.h"
#include "server/rpc/request_record.h"
#include "server/rpc/session_of.h"

namespace tensord {
namespace {

using op_profile::Phase;

// One call; it is over when its handler returns.
class StartCall final : public grpc::ServerUnaryReactor {
 public:
  StartCall(const MethodRecord& method, GraphFactsTable& facts,
            RecordedRuns& runs, const grpc::CallbackServerContext& context,
            const grpc::ByteBuffer& request, grpc::ByteBuffer& response)
      : environment_(method.environment),
        token_(method.environment.active_calls) {
    RequestRecord record(method);
    record.AddRequestBytes(request.Length());
    const absl::Status status =
        Run(facts, runs, record, context, request, response);
    Finish(record.End(status, context));
  }

  void OnDone() override { delete this; }

 private:
  absl::Status Run(GraphFactsTable& facts, RecordedRuns& runs,
                   RequestRecord& record,
                   const grpc::CallbackServerContext& context,
                   const grpc::ByteBuffer& request,
                   grpc::ByteBuffer& response) {
    const auto clock = op_profile::TickClock::Get();
    const uint64_t start = clock.Now();
    ExecuteRequestReader reader(environment_, facts);
    Execution read;
    TENSORD_RETURN_IF_ERROR(reader.Read(request, PrincipalOf(context), read));
    // As Execute does it.
    const_cast<grpc::ByteBuffer&>(request).Clear();
    read.phase_ns[static_cast<size_t>(Phase::kDecode)] =
        static_cast<int64_t>(clock.ToNs(clock.Elapsed(start, clock.Now())));
    TENSORD_ASSIGN_OR_RETURN(
        std::shared_ptr<Session> session,
        SessionOf(environment_, reader.plan().session_id, context));
    reader.plan().trace_id = record.TraceId(context);
    read.flow = FlowOf(reader.plan().session_id, context);
    // The call's deadline is not the run's, which goes on.
    TENSORD_ASSIGN_OR_RETURN(
        const ExecutionTable::Begun begun,
        runs.Start(reader.graph_id(), reader.plan(), read, std::move(session),
                   absl::InfiniteFuture()));
    v1::Execution message;
    FillExecution(*begun.record, message);
    return SerializeMessage(message, environment_.config.max_message_bytes,
                            response);
  }

  const ServiceEnvironment& environment_;
  const ActiveCalls::Token token_;
};

}  // namespace

RawService::UnaryHandler MakeStartHandler(const MethodRecord& method,
                                          GraphFactsTable& facts,
                                          RecordedRuns& runs) {
  return [&method, &facts, &runs](grpc::CallbackServerContext* context,
                                  const grpc::ByteBuffer* request,
                                  grpc::ByteBuffer* response) {
    return new StartCall(method, facts, runs, *context, *request, *response);
  };
}

}  // namespace tensord
