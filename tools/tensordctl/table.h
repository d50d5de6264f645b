#ifndef TENSORD_TOOLS_TENSORDCTL_TABLE_H_
#define TENSORD_TOOLS_TENSORDCTL_TABLE_H_

#include <string>
#include <vector>

#include "tools/tensordctl/console.h"

namespace tensord::ctl {

enum class Align { kLeft, kRight };

// How a row looks on a terminal that has colours.
enum class Tone { kPlain, kGood, kBad, kDim };

struct Column {
  std::string title;
  Align align = Align::kLeft;
  // On a terminal too narrow for the table, this column's cells are cut. Those
  // that the reader came for should not be.
  bool may_be_cut = false;
  // Left out when no cell of it says more than "" or "-".
  bool only_if_used = false;
};

// Rows of text in aligned columns, laid out by libsmartcols, the library behind
// lsblk and its siblings. It counts the width of UTF-8, and shows control
// characters in cells as escapes.
//
// Threading: confined to one thread.
class Table {
 public:
  explicit Table(std::vector<Column> columns);

  // One cell for each column; a missing one is empty.
  void AddRow(std::vector<std::string> cells, Tone tone = Tone::kPlain);

  bool is_empty() const { return rows_.empty(); }

  // Titles and rows, to console.out; the word "none" if there are no rows.
  void Print(const Console& console) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Tone tone;
  };

  bool IsShown(size_t column) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace tensord::ctl

#endif  // TENSORD_TOOLS_TENSORDCTL_TABLE_H_
