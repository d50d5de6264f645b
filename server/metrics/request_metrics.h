#ifndef TENSORD_SERVER_METRICS_REQUEST_METRICS_H_
#define TENSORD_SERVER_METRICS_REQUEST_METRICS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "engine/profile/striped_counters.h"
#include "engine/profile/striped_histograms.h"
#include "server/metrics/byte_buckets.h"
#include "server/metrics/page.h"

namespace tensord::metrics {

// A method as its metrics name it: "tensord.v1.ExecutionService", "Execute".
struct MethodName {
  std::string service;
  std::string method;
};

// What calls cost, by method.
//
// Threading: thread-safe; Record() takes no lock and writes the calling
//   thread's stripe.
// Ownership: outlives the calls that record into it.
class RequestMetrics {
 public:
  // `methods` is the whole list: a method that is not in it has no metrics, so
  // what a client calls cannot make a series.
  explicit RequestMetrics(std::vector<MethodName> methods);

  // The index of "/tensord.v1.ExecutionService/Execute"; nothing for a method
  // that is not in the list. Look it up once for each method, not for each
  // call.
  std::optional<size_t> Find(absl::string_view full_method) const;

  // A finished call. A code that gRPC does not have counts as UNKNOWN.
  void Record(size_t method, absl::StatusCode code, uint64_t duration_ns,
              uint64_t request_bytes);

  void Collect(Page& page) const;

 private:
  static constexpr size_t kCodeCount = 17;

  const std::vector<MethodName> methods_;
  absl::flat_hash_map<std::string, size_t> index_;
  op_profile::StripedCounters requests_;  // method × code
  op_profile::StripedDurations durations_;
  op_profile::StripedHistograms<ByteBuckets> bytes_;
};

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_REQUEST_METRICS_H_
