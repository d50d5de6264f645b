#ifndef TENSORD_ENGINE_COMPILE_EVENT_H_
#define TENSORD_ENGINE_COMPILE_EVENT_H_

#include "absl/functional/any_invocable.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace tensord {

// How long a part of a compilation took: "load" (decode, check, infer), "plan",
// "prepare".
struct CompileEvent {
  absl::string_view phase;
  absl::Duration duration;
};

// Called on compiler threads, by several at once.
using CompileObserver = absl::AnyInvocable<void(const CompileEvent&) const>;

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILE_EVENT_H_
