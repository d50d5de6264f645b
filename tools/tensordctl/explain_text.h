#ifndef TENSORD_TOOLS_TENSORDCTL_EXPLAIN_TEXT_H_
#define TENSORD_TOOLS_TENSORDCTL_EXPLAIN_TEXT_H_

#include "tensord/v1/graph_service.pb.h"
#include "tools/tensordctl/console.h"

namespace tensord::ctl {

// How a graph runs: a head with memory and times, the nodes in a table, and
// the transfers. With `verbose` also places in the arena, each kernel's source
// and revision, why other candidates were not chosen, and the passes.
void PrintExplanation(const Console& console,
                      const v1::ExplainGraphResponse& explained, bool verbose);

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_EXPLAIN_TEXT_H_
