#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace twill::tool {

/// Text in aligned columns. Columns in which no row has anything are left out.
class table {
 public:
  enum class align { left, right };
  struct column {
    std::string head;
    align side = align::right;
    bool elastic = false;  ///< shortened when the table would be wider than the page
  };

  explicit table(std::vector<column> columns) : columns_(std::move(columns)) {}

  /// One cell for each column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  /// Head, rule and rows, each line ended; no trailing blanks.
  std::string text() const;

 private:
  std::vector<std::size_t> widths() const;
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

  std::vector<column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace twill::tool
