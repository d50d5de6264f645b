#include "engine/exec/stoppable_workers.h"

#include <algorithm>

namespace tensord {
namespace {

// Pieces of one ParallelFor, each at least its grain. A launch is refused when
// its estimate is above max_execution_time, five minutes by default: a piece of
// it takes some tenths of a second. A piece costs a load and a call, and its
// grain is worth more than waking a thread.
constexpr int64_t kMaxPieces = 1024;

}  // namespace

void StoppableWorkers::ParallelFor(
    int64_t count, int64_t grain,
    absl::FunctionRef<void(int64_t begin, int64_t end)> body) {
  if (is_stopped_.load(std::memory_order_relaxed)) return;
  const int64_t piece = std::max({grain, count / kMaxPieces, int64_t{1}});
  if (count <= piece) return workers_.ParallelFor(count, grain, body);
  workers_.ParallelFor(count, grain, [&](int64_t begin, int64_t end) {
    while (begin < end && !is_stopped_.load(std::memory_order_relaxed)) {
      // The rest joins the last piece: none is below the grain.
      const int64_t next = end - begin < 2 * piece ? end : begin + piece;
      body(begin, next);
      begin = next;
    }
  });
}

}  // namespace tensord
