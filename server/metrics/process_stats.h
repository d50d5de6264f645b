#ifndef TENSORD_SERVER_METRICS_PROCESS_STATS_H_
#define TENSORD_SERVER_METRICS_PROCESS_STATS_H_

#include "server/metrics/page.h"

namespace tensord::metrics {

// The conventional process_* metrics, from /proc/self. What cannot be read is
// left out.
//
// Threading: any thread.
void CollectProcess(Page& page);

}  // namespace tensord::metrics

#endif  // TENSORD_SERVER_METRICS_PROCESS_STATS_H_
