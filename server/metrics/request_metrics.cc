#include "server/metrics/request_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tensord::metrics {

RequestMetrics::RequestMetrics(std::vector<MethodName> methods)
    : methods_(std::move(methods)),
      requests_(methods_.size() * kCodeCount),
      durations_(methods_.size()),
      bytes_(methods_.size()) {
  for (size_t i = 0; i < methods_.size(); ++i) {
    index_.emplace(
        absl::StrCat("/", methods_[i].service, "/", methods_[i].method), i);
  }
}

std::optional<size_t> RequestMetrics::Find(
    absl::string_view full_method) const {
  const auto it = index_.find(full_method);
  if (it == index_.end()) return std::nullopt;
  return it->second;
}

void RequestMetrics::Record(size_t method, absl::StatusCode code,
                            uint64_t duration_ns, uint64_t request_bytes) {
  size_t code_index = static_cast<size_t>(code);
  if (code_index >= kCodeCount) {
    code_index = static_cast<size_t>(absl::StatusCode::kUnknown);
  }
  requests_.Add(method * kCodeCount + code_index, 1);
  durations_.Add(method, duration_ns);
  bytes_.Add(method, request_bytes);
}

void RequestMetrics::Collect(Page& page) const {
  for (size_t i = 0; i < methods_.size(); ++i) {
    if (!durations_.IsUsed(i)) continue;
    const MethodName& name = methods_[i];
    for (size_t code = 0; code < kCodeCount; ++code) {
      const size_t row = i * kCodeCount + code;
      if (!requests_.IsUsed(row)) continue;
      page.Add(MetricId::kRequests,
               {name.service, name.method,
                absl::StatusCodeToString(static_cast<absl::StatusCode>(code))},
               static_cast<double>(requests_.Read(row)));
    }
    page.Add(MetricId::kRequestDuration, {name.service, name.method},
             op_profile::ReadDurations(durations_, i));
    const auto bytes = bytes_.Read(i);
    page.Add(MetricId::kRequestBytes, {name.service, name.method}, bytes.counts,
             bytes.sum);
  }
}

}  // namespace tensord::metrics
