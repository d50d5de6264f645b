#include "server/rpc/echo_service.h"

#include <cstring>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "engine/engine.h"
#include "server/rpc/message_io.h"

namespace tensord {
namespace {

// Copies what came into pooled memory, and answers with what an earlier call of
// the same size had copied there: so that the bytes go out of another buffer
// than they came into, as those of a run do, and pooled memory that other
// methods have used is never told. The first call of a size is answered with
// zeros.
//
// Threading: thread-safe.
class PooledEcho {
 public:
  explicit PooledEcho(BufferPool& buffers) : buffers_(buffers) {}

  grpc::Status Answer(const grpc::ByteBuffer& request,
                      grpc::ByteBuffer& response) {
    BufferSegments received;
    received.Assign(request);
    absl::StatusOr<PooledBuffer> copy = buffers_.Allocate(request.Length());
    if (!copy.ok()) return Refusal(copy.status());
    std::byte* to = copy->data();
    for (const absl::string_view segment : received.segments()) {
      std::memcpy(to, segment.data(), segment.size());
      to += segment.size();
    }
    absl::StatusOr<PooledBuffer> answer = Exchange(*std::move(copy));
    if (!answer.ok()) return Refusal(answer.status());
    auto* owner = new PooledBuffer(*std::move(answer));
    const grpc::Slice slice(
        owner->data(), owner->size(),
        [](void* buffer) { delete static_cast<PooledBuffer*>(buffer); }, owner);
    response = grpc::ByteBuffer(&slice, 1);
    return grpc::Status::OK;
  }

 private:
  static grpc::Status Refusal(const absl::Status& status) {
    return {grpc::StatusCode::RESOURCE_EXHAUSTED,
            std::string(status.message())};
  }

  // Keeps `latest`, and gives what was kept, or zeros of the same size.
  absl::StatusOr<PooledBuffer> Exchange(PooledBuffer latest) {
    const size_t size = latest.size();
    {
      absl::MutexLock lock(&mu_);
      std::swap(latest, previous_);
    }
    if (latest.size() == size) return latest;
    absl::StatusOr<PooledBuffer> zeros = buffers_.Allocate(size);
    if (zeros.ok()) std::memset(zeros->data(), 0, size);
    return zeros;
  }

  BufferPool& buffers_;
  absl::Mutex mu_;
  PooledBuffer previous_ ABSL_GUARDED_BY(mu_);
};

grpc::ServerUnaryReactor* End(grpc::CallbackServerContext& context,
                              const grpc::Status& status) {
  grpc::ServerUnaryReactor* reactor = context.DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

}  // namespace

std::unique_ptr<RawService> MakeEchoService(
    const ServiceEnvironment& environment) {
  auto service =
      std::make_unique<RawService>(environment, "tensord.bench.v1.Echo");
  service->SetUnary(
      "Echo", [](grpc::CallbackServerContext* context,
                 const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
        *response = *request;  // shares the slices
        return End(*context, grpc::Status::OK);
      });
  const auto pooled =
      std::make_shared<PooledEcho>(environment.engine.buffers());
  service->SetUnary("PooledEcho", [pooled](grpc::CallbackServerContext* context,
                                           const grpc::ByteBuffer* request,
                                           grpc::ByteBuffer* response) {
    return End(*context, pooled->Answer(*request, *response));
  });
  service->SetUnary("Discard",
                    [](grpc::CallbackServerContext* context,
                       const grpc::ByteBuffer*, grpc::ByteBuffer* response) {
                      *response = grpc::ByteBuffer(nullptr, 0);
                      return End(*context, grpc::Status::OK);
                    });
  return service;
}

}  // namespace tensord
