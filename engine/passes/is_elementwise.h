#ifndef TENSORD_ENGINE_PASSES_IS_ELEMENTWISE_H_
#define TENSORD_ENGINE_PASSES_IS_ELEMENTWISE_H_

#include "backends/api/op_kind.h"

namespace tensord {

// Whether each element of the operator's result follows from the elements of
// its inputs at the same place, broadcast, so that it does not matter in which
// order the dimensions come. Of Clip and CastLike, whose other inputs are read
// once; not of operators that only are so for some of their parameters.
bool IsElementwise(OpKind op);

}  // namespace tensord

#endif  // TENSORD_ENGINE_PASSES_IS_ELEMENTWISE_H_
