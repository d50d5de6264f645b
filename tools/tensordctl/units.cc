#include "tools/tensordctl/units.h"

#include <cmath>

#include "absl/strings/str_format.h"
#include "absl/types/span.h"

namespace tensord::ctl {
namespace {

struct Unit {
  double size;
  const char* name;
};

// Units ascend, and the first has size 1, below which nothing is divided.
std::string Scaled(double value, absl::Span<const Unit> units) {
  // A value that three digits would round up to the next unit belongs there.
  constexpr double kRounding = 1 - 0.0005;
  size_t i = 0;
  while (i + 1 < units.size() &&
         std::abs(value) >= units[i + 1].size * kRounding) {
    ++i;
  }
  const double scaled = value / units[i].size;
  const double magnitude = std::abs(scaled);
  if (i == 0 && scaled == std::floor(scaled)) {
    return absl::StrFormat("%.0f %s", scaled, units[i].name);
  }
  const int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
  return absl::StrFormat("%.*f %s", decimals, scaled, units[i].name);
}

}  // namespace

std::string FormatNs(double ns) {
  constexpr Unit kUnits[] = {
      {1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}};
  return Scaled(ns, kUnits);
}

std::string FormatBytes(int64_t bytes) {
  constexpr double kKibi = 1024;
  constexpr Unit kUnits[] = {{1, "B"},
                             {kKibi, "KiB"},
                             {kKibi * kKibi, "MiB"},
                             {kKibi * kKibi * kKibi, "GiB"},
                             {kKibi * kKibi * kKibi * kKibi, "TiB"}};
  return Scaled(static_cast<double>(bytes), kUnits);
}

std::string FormatShare(double part, double whole) {
  if (whole <= 0) return "-";
  return absl::StrFormat("%.1f %%", 100 * part / whole);
}

}  // namespace tensord::ctl
