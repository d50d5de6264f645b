#include "tools/tensordctl/graph_text.h"

#include "absl/strings/str_cat.h"
#include "tools/tensordctl/type_text.h"
#include "tools/tensordctl/units.h"

namespace tensord::ctl {

void PrintGraph(const Console& console, const v1::GraphInfo& graph) {
  std::ostream& out = console.out;
  out << "graph      " << graph.graph_id() << "\n";
  if (!graph.name().empty()) {
    out << "name       " << Printable(graph.name());
    if (!graph.producer().empty()) {
      out << ", made by " << Printable(graph.producer());
    }
    out << "\n";
  }
  for (const v1::ValueInfo& input : graph.inputs()) {
    out << "input      " << Printable(input.name()) << " " << TypeText(input)
        << "\n";
  }
  for (const v1::ValueInfo& output : graph.outputs()) {
    out << "output     " << Printable(output.name()) << " " << TypeText(output)
        << "\n";
  }
  out << "size       " << graph.node_count() << " nodes, "
      << FormatBytes(graph.constant_bytes()) << " of constants, opset "
      << graph.opset_version() << "\n";
}

}  // namespace tensord::ctl
