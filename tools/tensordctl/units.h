#ifndef TENSORD_TOOLS_TENSORDCTL_UNITS_H_
#define TENSORD_TOOLS_TENSORDCTL_UNITS_H_

#include <cstdint>
#include <string>

// Quantities for people: three digits and a unit.
namespace tensord::ctl {

// "850 ns", "12.3 us", "3.21 ms", "2.50 s", "75.0 min".
std::string FormatNs(double ns);

// "512 B", "1.50 KiB", "64.0 MiB", "2.00 GiB".
std::string FormatBytes(int64_t bytes);

// "12.3 %" of the whole; "-" of nothing.
std::string FormatShare(double part, double whole);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_UNITS_H_
