#include "backends/cpu/cpu_identity.h"

#include <cstdint>
#include <fstream>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace tensord {
namespace {

// FNV-1a. absl::Hash is seeded anew in each process.
uint64_t StableHash(absl::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

}  // namespace

CpuIdentity ReadCpuIdentity(int thread_count, absl::string_view root) {
  // x86 has "model name" and "flags"; Arm has "CPU part" and "Features".
  std::string model;
  std::string features;
  std::ifstream cpuinfo(absl::StrCat(root, "/proc/cpuinfo"));
  for (std::string line; std::getline(cpuinfo, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) {
      if (!model.empty()) break;  // the first processor's block has ended
      continue;
    }
    const std::string key(
        absl::StripAsciiWhitespace(absl::string_view(line).substr(0, colon)));
    const std::string value(
        absl::StripAsciiWhitespace(absl::string_view(line).substr(colon + 1)));
    if (key == "model name" || (key == "CPU part" && model.empty())) {
      model = value;
    } else if (key == "flags" || key == "Features") {
      features = value;
    }
  }
  if (model.empty()) model = "unknown CPU";
  CpuIdentity identity;
  identity.description = absl::StrCat(
      model, ", ", thread_count, thread_count == 1 ? " thread" : " threads");
  identity.uuid = absl::StrFormat(
      "cpu-%016x",
      StableHash(absl::StrCat(model, "\n", features, "\n", thread_count)));
  return identity;
}

}  // namespace tensord
