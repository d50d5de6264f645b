#ifndef TENSORD_BACKENDS_CPU_ONEDNN_LIBRARY_H_
#define TENSORD_BACKENDS_CPU_ONEDNN_LIBRARY_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/api/precision.h"
#include "oneapi/dnnl/dnnl.h"

// oneDNN as this backend uses it: its C interface, behind statuses.
//
// Debian's oneDNN runs on libgomp, which keeps a team of threads for each
// thread that calls it. So every primitive is made for one thread and runs on
// the thread that calls it; what is parallel is the WorkerPool's ParallelFor
// over primitives of a part of the work each. How the work is cut follows from
// the shapes alone, so the result does not depend on the number of threads.
//
// Threading: call everything from any thread.
namespace tensord::onednn {

// kResourceExhausted when memory is short, kUnimplemented for what the library
// has no implementation of, else kInternal; the text names the call.
absl::Status ToStatus(dnnl_status_t status, absl::string_view call);

// OK once the process's engine and stream are there, else why they could not be
// made: the same answer at every call. Whoever makes an object of the library
// asks first.
absl::Status CheckUsable();

// The process's engine and stream, made at the first call and never freed. A
// stream of the CPU has no state, so that all threads may share one. Null
// unless CheckUsable().
dnnl_engine_t Engine();
dnnl_stream_t Stream();

// OK where the library's products of bytes are exact, else why not: without the
// instructions for them it adds up pairs in 16 bits, which saturate.
absl::Status CheckExactIntegers();

// OK where a site's precision allows factors of float32 to be rounded to
// bfloat16 and this machine multiplies those, else why not.
absl::Status CheckBFloat16(Precision precision);

// From here on what the calling thread asks of the library is made for, and
// runs on, this thread alone.
void UseThisThreadOnly();

}  // namespace tensord::onednn

#endif  // TENSORD_BACKENDS_CPU_ONEDNN_LIBRARY_H_
