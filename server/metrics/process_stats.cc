#include "server/metrics/process_stats.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

namespace tensord::metrics {
namespace {

std::string ReadFile(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The fields of /proc/self/stat from the third (state) on: the second is the
// program's name, which may hold spaces and parentheses.
std::vector<std::string> StatFields() {
  const std::string text = ReadFile("/proc/self/stat");
  const size_t end_of_name = text.rfind(')');
  if (end_of_name == std::string::npos) return {};
  return absl::StrSplit(absl::string_view(text).substr(end_of_name + 1), ' ',
                        absl::SkipEmpty());
}

// Seconds between the epoch of Unix and the machine's start; 0 if unknown.
double BootTimeSeconds() {
  const std::string text = ReadFile("/proc/stat");
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    double seconds = 0;
    if (absl::ConsumePrefix(&line, "btime ") &&
        absl::SimpleAtod(line, &seconds)) {
      return seconds;
    }
  }
  return 0;
}

int CountOpenFds() {
  DIR* dir = opendir("/proc/self/fd");
  if (dir == nullptr) return 0;
  int count = 0;
  while (const dirent* entry = readdir(dir)) {
    if (entry->d_name[0] != '.') ++count;
  }
  closedir(dir);
  return count - 1;  // opendir's own
}

void CollectStat(Page& page) {
  // Numbers of proc(5), less the two fields before the state, from 0.
  constexpr size_t kUserTicks = 11, kSystemTicks = 12, kStartTicks = 19,
                   kVirtualBytes = 20, kResidentPages = 21;
  const std::vector<std::string> fields = StatFields();
  if (fields.size() <= kResidentPages) return;
  const auto number = [&fields](size_t i) {
    double value = 0;
    return absl::SimpleAtod(fields[i], &value) ? value : 0.0;
  };
  const double ticks_per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  page.Add(MetricId::kProcessCpuSeconds, {},
           (number(kUserTicks) + number(kSystemTicks)) / ticks_per_second);
  page.Add(MetricId::kProcessResidentMemory, {},
           number(kResidentPages) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  page.Add(MetricId::kProcessVirtualMemory, {}, number(kVirtualBytes));
  if (const double boot_time = BootTimeSeconds(); boot_time > 0) {
    page.Add(MetricId::kProcessStartTime, {},
             boot_time + number(kStartTicks) / ticks_per_second);
  }
}

}  // namespace

void CollectProcess(Page& page) {
  CollectStat(page);
  if (const int fds = CountOpenFds(); fds > 0) {
    page.Add(MetricId::kProcessOpenFds, {}, fds);
  }
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    page.Add(MetricId::kProcessMaxFds, {}, static_cast<double>(limit.rlim_cur));
  }
}

}  // namespace tensord::metrics
