#include "tools/tensordctl/table.h"

#include <libsmartcols.h>

#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"

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

bool Table::IsShown(size_t column) const {
  if (!columns_[column].only_if_used) return true;
  return absl::c_any_of(rows_, [column](const Row& row) {
    return column < row.cells.size() && !row.cells[column].empty() &&
           row.cells[column] != "-";
  });
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
  std::vector<size_t> shown;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (!IsShown(i)) continue;
    shown.push_back(i);
    AddColumn(table.get(), columns_[i]);
  }
  for (const Row& row : rows_) {
    libscols_line* line = scols_table_new_line(table.get(), nullptr);
    if (line == nullptr) return;
    if (const char* colour = ColourOf(row.tone)) {
      scols_line_set_color(line, colour);
    }
    for (size_t i = 0; i < shown.size(); ++i) {
      if (shown[i] >= row.cells.size()) continue;
      scols_line_set_data(line, i, row.cells[shown[i]].c_str());
    }
  }
  char* text = nullptr;
  if (scols_print_table_to_string(table.get(), &text) == 0 && text != nullptr) {
    console.out << text << "\n";
  }
  std::free(text);
}

}  // namespace tensord::ctl
