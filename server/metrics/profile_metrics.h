#ifndef TENSORD_SERVER_METRICS_PROFILE_METRICS_H_
#define TENSORD_SERVER_METRICS_PROFILE_METRICS_H_

#include <vector>

#include "engine/profile/phase_profile.h"
#include "engine/profile/profile_snapshot.h"
#include "server/metrics/page.h"
#include "server/metrics/series_budget.h"

namespace tensord::metrics {

// The value of op, kernel and dtype labels for what has no series of its own.
inline constexpr char kOtherLabel[] = "other";

// The op_* and kernel_* metrics. Rows that `budget` does not admit are added up
// under "other" in `page`, so that sums over a page stay exact.
void CollectProfile(const op_profile::ProfileSnapshot& snapshot,
                    SeriesBudget& budget, Page& page);

void CollectPhases(const std::vector<op_profile::PhaseRow>& phases, Page& page);

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_PROFILE_METRICS_H_
