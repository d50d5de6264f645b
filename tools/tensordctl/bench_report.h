#ifndef TENSORD_TOOLS_TENSORDCTL_BENCH_REPORT_H_
#define TENSORD_TOOLS_TENSORDCTL_BENCH_REPORT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/tensordctl/console.h"
#include "tools/tensordctl/load.h"

// What `bench` shows of its calls.
namespace tensord::ctl {

// How the load was made, on one line: "4 at a time for 10s, after 1s of
// warm-up, by ExecuteStream".
std::string LoadText(const LoadOptions& options);

// A row for each request, by its name, and one for all if there are several;
// then the errors by code.
void PrintLoad(const Console& console, const std::vector<std::string>& names,
               const LoadResult& result);

nlohmann::ordered_json JsonOfLoad(const LoadOptions& options,
                                  const std::vector<std::string>& names,
                                  const LoadResult& result);

// "12.3 s of 60.0 s  [####----]  1520/s, 3 errors, 8 open".
std::string ProgressText(const LoadProgress& progress);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_BENCH_REPORT_H_
