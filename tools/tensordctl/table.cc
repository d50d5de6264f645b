#include "tools/tensordctl/table.h"

#include <libsmartcols.h>

#include <cstdlib>
#include <memory>
#include <utility>

namespace tensord::ctl {
namespace {

using SmartTable =
    std::unique_ptr<libscols_table, decltype(&scols_unref_table)>;

const char* ColourOf(Tone tone) {
  switch (tone) {
    case Tone::kGood:
      return "green";
    case Tone::kBad:
      return "red";
    case Tone::kDim:
      return "darkgray";
    case Tone::kPlain:
      break;
  }
  return nullptr;
}

void AddColumn(libscols_table* table, const Column& column) {
  const int flags = (column.align == Align::kRight ? SCOLS_FL_RIGHT : 0) |
                    (column.may_be_cut ? SCOLS_FL_TRUNC : 0);
  // A width hint of 0: as wide as the widest cell.
  libscols_column* added =
      scols_table_new_column(table, column.title.c_str(), 0, flags);
  if (added != nullptr) {
    scols_cell_set_color(scols_column_get_header(added), "bold");
  }
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

void Table::AddRow(std::vector<std::string> cells, Tone tone) {
  rows_.push_back({std::move(cells), tone});
}

void Table::Print(const Console& console) const {
  if (rows_.empty()) {
    console.out << "none\n";
    return;
  }
  const SmartTable table(scols_new_table(), &scols_unref_table);
  if (table == nullptr) return;
  scols_table_enable_colors(table.get(), console.colour_out ? 1 : 0);
  if (console.width > 0) {
    scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_ALWAYS);
    scols_table_set_termwidth(table.get(), console.width);
  } else {
    scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_NEVER);
  }
  for (const Column& column : columns_) AddColumn(table.get(), column);
  for (const Row& row : rows_) {
    libscols_line* line = scols_table_new_line(table.get(), nullptr);
    if (line == nullptr) return;
    if (const char* colour = ColourOf(row.tone)) {
      scols_line_set_color(line, colour);
    }
    for (size_t i = 0; i < row.cells.size() && i < columns_.size(); ++i) {
      scols_line_set_data(line, i, row.cells[i].c_str());
    }
  }
  char* text = nullptr;
  if (scols_print_table_to_string(table.get(), &text) == 0 && text != nullptr) {
    console.out << text << "\n";
  }
  std::free(text);
}

}  // namespace tensord::ctl
