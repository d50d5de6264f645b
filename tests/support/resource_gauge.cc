#include "tests/support/resource_gauge.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include "tests/support/sanitizers.h"

namespace tensord {
namespace {

double CpuSecondsSoFar() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A line of /proc/self/status that is in kB; 0 where there is none.
int64_t StatusBytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    long long kilobytes = 0;  // NOLINT: what sscanf knows
    if (line.rfind(name + ":", 0) == 0 &&
        std::sscanf(line.c_str() + name.size() + 1, "%lld", &kilobytes) == 1) {
      return int64_t{kilobytes} << 10;
    }
  }
  return 0;
}

int64_t EntryCount(const char* folder) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(folder, error);
  return error ? 0 : std::distance(begin(entries), end(entries));
}

}  // namespace

ResourceGauge::ResourceGauge() {
  // The peak becomes what is held now. Where that is not allowed, the peak of
  // the process so far counts, which is only stricter.
  std::ofstream("/proc/self/clear_refs") << "5";
  start_bytes_ = StatusBytes("VmRSS");
  start_seconds_ = CpuSecondsSoFar();
}

double ResourceGauge::CpuSeconds() const {
  return CpuSecondsSoFar() - start_seconds_;
}

int64_t ResourceGauge::PeakBytes() const {
  return std::max<int64_t>(0, StatusBytes("VmHWM") - start_bytes_);
}

int64_t OpenFileCount() { return EntryCount("/proc/self/fd"); }

int64_t ThreadCount() { return EntryCount("/proc/self/task"); }

double BuildSlowdown() {
#if TENSORD_ADDRESS_SANITIZER || TENSORD_THREAD_SANITIZER
  return 20;
#elif defined(__OPTIMIZE__)
  return 1;
#else
  return 8;
#endif
}

}  // namespace tensord
