#ifndef TENSORD_ENGINE_COMPILED_NO_BACKEND_FOR_OP_H_
#define TENSORD_ENGINE_COMPILED_NO_BACKEND_FOR_OP_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "backends/api/device_id.h"
#include "backends/api/dtype.h"

namespace tensord {

// The dtypes of a node: inputs in order, then outputs; the last is the
// output's.
using DTypeList = absl::InlinedVector<DType, 8>;

// "float32, int64 -> float32"; an absent operand is "-".
std::string DTypeListToString(const DTypeList& dtypes, int input_count);

// Why a node has no kernel: what was asked for, and what there is instead.
//
// It travels inside a kUnimplemented absl::Status: as text (at most
// kMaxTextBytes) and as a typed payload, which the server turns into the API's
// error detail of the same name.
//
// Threading and ownership: a plain value.
struct NoBackendForOp {
  static constexpr size_t kMaxTextBytes = 4096;
  // Rows of supported and declined that are kept; more set is_truncated.
  static constexpr size_t kMaxRows = 32;

  struct Supported {  // a combination that some backend has
    BackendId backend;
    DTypeList dtypes;  // as listed in the table; the last input is variadic
    int input_count = 0;
    bool any_dtypes = false;
  };
  struct Declined {  // a kernel for these very dtypes that will not take the
                     // node
    BackendId backend;
    std::string kernel;
    std::string reason;
  };

  std::string op;    // as the client wrote it
  std::string node;  // empty until a caller that knows it puts it in
  BackendId backend{};
  DTypeList dtypes;
  int input_count = 0;
  std::vector<BackendId> available_backends;
  std::vector<Supported> supported;
  std::vector<Declined> declined;
  bool is_truncated = false;

  absl::Status ToStatus() const;

  // Nothing when the status carries no such payload.
  static std::optional<NoBackendForOp> FromStatus(const absl::Status& status);
};

// The same status with the node's name put in, text and payload; other statuses
// get "node 'name': " in front of their text and keep their payloads.
absl::Status WithNode(const absl::Status& status, absl::string_view node_name);

}  // namespace tensord

#endif  // TENSORD_ENGINE_COMPILED_NO_BACKEND_FOR_OP_H_
