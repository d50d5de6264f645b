#ifndef TENSORD_ENGINE_TUNE_SITE_KEY_H_
#define TENSORD_ENGINE_TUNE_SITE_KEY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "backends/api/kernel.h"

namespace tensord {

// What makes two nodes the same to the tuner: operator, dtypes, layouts,
// parameters, precision, which inputs are constants, and the contents of short
// integer constants (axes, zero points), by which kernels choose their way. The
// contents of weights do not count, so that all layers of one shape share a
// measurement.
//
// 32 hexadecimal digits: the first half of the SHA-256 over all that. The same
// within one build only.
// Threading: pure. About a microsecond.
std::string SiteKey(const NodeSite& site);

// The first half of the SHA-256 over `text`, as 32 hexadecimal digits.
std::string ShortDigest(absl::string_view text);

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_SITE_KEY_H_
