#include "server/config/memory_plan.h"

#include <algorithm>

namespace tensord {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
// What a daemon without graphs and clients takes, with room for the threads'
// stacks and allocators.
constexpr uint64_t kProcessBytes = 64 * kMiB;
// The least that is of use, however little memory there is.
constexpr uint64_t kLeastIngressBytes = 16 * kMiB;
constexpr uint64_t kLeastSharedBytes = 16 * kMiB;

// The limits of a configuration that are nobody's choice.
class Unset {
 public:
  explicit Unset(const std::set<std::string>& given) : given_(given) {}

  template <typename Number>
  void Lower(const char* name, Number& value, uint64_t most) const {
    if (given_.count(name) > 0) return;
    value = std::min(value, static_cast<Number>(most));
  }

  // The same for a limit over all, and the limit of one that it must hold.
  void LowerBoth(const char* all_name, int64_t& all, const char* one_name,
                 int64_t& one, uint64_t most) const {
    const uint64_t least = given_.count(one_name) > 0 ? one : 0;
    Lower(all_name, all, std::max(most, least));
    Lower(one_name, one, all);
  }

 private:
  const std::set<std::string>& given_;
};

}  // namespace

uint64_t FitToMemory(uint64_t memory_bytes, const std::set<std::string>& given,
                     ServerConfig& config) {
  const Unset unset(given);
  const uint64_t eighth = memory_bytes / 8;
  unset.LowerBoth("max-ingress-bytes", config.max_ingress_bytes,
                  "max-message-bytes", config.max_message_bytes,
                  std::max(eighth, kLeastIngressBytes));
  unset.LowerBoth("upload-budget-bytes", config.upload_budget_bytes,
                  "max-upload-bytes", config.max_upload_bytes, eighth);
  unset.Lower("graph-cache-bytes", config.engine.graph_cache_bytes, eighth);

  // gRPC was seen a third above its quota before it stopped a message.
  const uint64_t ingress_bytes = config.max_ingress_bytes * 4 / 3;
  const uint64_t taken_bytes = kProcessBytes + memory_bytes / 16 +
                               ingress_bytes + config.upload_budget_bytes +
                               config.engine.graph_cache_bytes;
  const uint64_t shared_bytes = std::max(
      kLeastSharedBytes, memory_bytes - std::min(memory_bytes, taken_bytes));

  unset.Lower("max-peak-bytes", config.engine.max_peak_bytes, shared_bytes);
  unset.Lower("max-queued-bytes", config.engine.max_queued_bytes,
              shared_bytes / 2);
  unset.Lower("max-idle-buffer-bytes", config.engine.max_idle_buffer_bytes,
              shared_bytes / 4);
  unset.Lower("max-resident-bytes", config.max_resident_bytes,
              shared_bytes / 2);
  unset.Lower("max-session-bytes", config.max_session_bytes,
              config.max_resident_bytes);
  unset.Lower("max-result-bytes", config.max_result_bytes, shared_bytes / 4);
  return shared_bytes;
}

}  // namespace tensord
