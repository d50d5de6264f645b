#ifndef TENSORD_ENGINE_TUNE_PARAMS_WRITER_H_
#define TENSORD_ENGINE_TUNE_PARAMS_WRITER_H_

#include <string>

#include "backends/api/op_params.h"

namespace tensord {

// Appends every field of a node's parameters, epilogue included, as bytes: two
// nodes have the same bytes exactly when their parameters are equal. The bytes
// mean something within one build only.
// Threading: pure.
void AppendParams(const OpParams& params, std::string& out);

}  // namespace tensord

#endif  // TENSORD_ENGINE_TUNE_PARAMS_WRITER_H_
