#include "backends/cpu/cgroup.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace tensord {
namespace {

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The process's group of one v1 controller, or of version 2 when `controller`
// is empty; "/" when the system does not say.
std::string GroupPath(absl::string_view root, absl::string_view controller) {
  const std::optional<std::string> text =
      ReadFile(absl::StrCat(root, "/proc/self/cgroup"));
  if (!text.has_value()) return "/";
  // Lines are "4:cpu,cpuacct:/path"; version 2's is "0::/path".
  for (absl::string_view line : absl::StrSplit(*text, '\n')) {
    const std::vector<absl::string_view> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3) continue;
    for (absl::string_view name : absl::StrSplit(fields[1], ',')) {
      if (name == controller) return std::string(fields[2]);
    }
  }
  return "/";
}

// The folders of a group and of all above it below `mount`, innermost first.
std::vector<std::string> FoldersUpwards(const std::string& mount,
                                        absl::string_view group) {
  std::vector<std::string> folders = {mount};
  for (absl::string_view part : absl::StrSplit(group, '/', absl::SkipEmpty())) {
    // A group outside of the process's cgroup namespace begins with "..".
    if (part == "..") return {mount};
    folders.push_back(absl::StrCat(folders.back(), "/", part));
  }
  std::reverse(folders.begin(), folders.end());
  return folders;
}

template <typename T>
void KeepSmaller(std::optional<T>& smallest, T value) {
  if (!smallest.has_value() || value < *smallest) smallest = value;
}

// "max 100000" or "250000 100000": the quota and the period in microseconds.
std::optional<double> ParseCpuMax(absl::string_view text) {
  const std::vector<absl::string_view> words =
      absl::StrSplit(text, absl::ByAnyChar(" \n"), absl::SkipEmpty());
  double quota_us;
  double period_us;
  if (words.size() != 2 || !absl::SimpleAtod(words[0], &quota_us) ||
      !absl::SimpleAtod(words[1], &period_us) || quota_us <= 0 ||
      period_us <= 0) {
    return std::nullopt;
  }
  return quota_us / period_us;
}

// Version 1 says "no limit" by a number near 2^63, version 2 by "max".
std::optional<uint64_t> ParseBytes(absl::string_view text) {
  constexpr uint64_t kNoLimitFrom = uint64_t{1} << 60;
  uint64_t bytes;
  if (!absl::SimpleAtoi(text, &bytes) || bytes >= kNoLimitFrom) {
    return std::nullopt;
  }
  return bytes;
}

// Where version 2 is mounted: alone, or beside version 1.
std::vector<std::string> Version2Mounts(absl::string_view root) {
  return {absl::StrCat(root, "/sys/fs/cgroup"),
          absl::StrCat(root, "/sys/fs/cgroup/unified")};
}

}  // namespace

std::optional<double> CgroupCpuQuota(absl::string_view root) {
  std::optional<double> smallest;
  const std::string group2 = GroupPath(root, "");
  for (const std::string& mount : Version2Mounts(root)) {
    for (const std::string& folder : FoldersUpwards(mount, group2)) {
      const auto text = ReadFile(absl::StrCat(folder, "/cpu.max"));
      if (!text.has_value()) continue;
      if (const auto cpus = ParseCpuMax(*text)) KeepSmaller(smallest, *cpus);
    }
  }
  const std::string group1 = GroupPath(root, "cpu");
  for (absl::string_view name : {"cpu", "cpu,cpuacct"}) {
    const std::string mount = absl::StrCat(root, "/sys/fs/cgroup/", name);
    for (const std::string& folder : FoldersUpwards(mount, group1)) {
      const auto quota = ReadFile(absl::StrCat(folder, "/cpu.cfs_quota_us"));
      const auto period = ReadFile(absl::StrCat(folder, "/cpu.cfs_period_us"));
      if (!quota.has_value() || !period.has_value()) continue;
      const auto cpus = ParseCpuMax(absl::StrCat(*quota, " ", *period));
      if (cpus.has_value()) KeepSmaller(smallest, *cpus);
    }
  }
  return smallest;
}

std::optional<uint64_t> CgroupMemoryLimitBytes(absl::string_view root) {
  std::optional<uint64_t> smallest;
  const std::string group2 = GroupPath(root, "");
  for (const std::string& mount : Version2Mounts(root)) {
    for (const std::string& folder : FoldersUpwards(mount, group2)) {
      const auto text = ReadFile(absl::StrCat(folder, "/memory.max"));
      if (!text.has_value()) continue;
      if (const auto bytes = ParseBytes(*text)) KeepSmaller(smallest, *bytes);
    }
  }
  const std::string mount1 = absl::StrCat(root, "/sys/fs/cgroup/memory");
  for (const std::string& folder :
       FoldersUpwards(mount1, GroupPath(root, "memory"))) {
    const auto text = ReadFile(absl::StrCat(folder, "/memory.limit_in_bytes"));
    if (!text.has_value()) continue;
    if (const auto bytes = ParseBytes(*text)) KeepSmaller(smallest, *bytes);
  }
  return smallest;
}

}  // namespace tensord
