// Prints every operator that the engine knows, one a line: its name, a tab, and
// how it is run. ListKernels tells the kernels of a daemon; views and control
// flow have none.
//
//   kernel  a backend's kernel computes it
//   view    its output is its input under another shape: nothing is run
//   flow    it runs graphs, or handles sequences and optional values

#include <cstdio>
#include <string>

#include "backends/api/op_kind.h"
#include "engine/ops/op_list.h"

namespace {

void Print(const tensord::OpDef& def) {
  const char* how = def.is_flow ? "flow" : def.is_view ? "view" : "kernel";
  const std::string name(tensord::OpKindName(def.op));
  std::printf("%s\t%s\n", name.c_str(), how);
}

}  // namespace

int main() {
#define TENSORD_PRINT(name) Print(tensord::name##Def());
  TENSORD_OPS(TENSORD_PRINT)
#undef TENSORD_PRINT
}
