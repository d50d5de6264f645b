#ifndef TENSORD_SERVER_LOG_TRACE_CONTEXT_H_
#define TENSORD_SERVER_LOG_TRACE_CONTEXT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace tensord {

// The trace id of a W3C `traceparent` ("00-<32 hex>-<16 hex>-<2 hex>"): a view
// into it of 32 lower-case hexadecimal digits. Empty for anything that the
// recommendation tells to ignore. A later version may have more behind it.
//
// Threading and ownership: pure.
absl::string_view TraceIdOf(absl::string_view traceparent);

// A new one, random, for a call that came without.
std::string NewTraceId();

}  // namespace tensord

#endif  // TENSORD_SERVER_LOG_TRACE_CONTEXT_H_
