#ifndef TENSORD_SERVER_RPC_EXECUTE_STREAM_H_
#define TENSORD_SERVER_RPC_EXECUTE_STREAM_H_

#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/rpc/graph_facts.h"
#include "server/rpc/raw_service.h"
#include "server/rpc/recorded_runs.h"

namespace tensord {

// The streams that are open, so that a daemon that is to end can end them: a
// client may hold one open for ever.
// Threading: thread-safe.
class OpenStreams {
 public:
  class Stream {
   public:
    virtual ~Stream() = default;
    // Answers what it has accepted, and ends.
    virtual void Drain() = 0;
  };

  void Add(std::weak_ptr<Stream> stream) ABSL_LOCKS_EXCLUDED(mu_);
  // All that are there, and all that come.
  void Drain() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Mutex mu_;
  bool is_draining_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::weak_ptr<Stream>> streams_ ABSL_GUARDED_BY(mu_);
};

// ExecutionService.ExecuteStream. A request is read when fewer than
// --max-stream-executions of the stream are without an answer; answers are
// written as they come, one at a time.
// Ownership: everything outlives the handler.
RawService::BidiHandler MakeStreamHandler(const MethodRecord& method,
                                          GraphFactsTable& facts,
                                          RecordedRuns& runs,
                                          OpenStreams& streams);

}  // namespace tensord

#endif  // TENSORD_SERVER_RPC_EXECUTE_STREAM_H_
