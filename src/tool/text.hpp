#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <twill/ladder/rung.hpp>

namespace twill::tool {

/// Width that tables and notes keep to.
constexpr std::size_t page_width = 80;

/// "a, b, c"
std::string joined(const std::vector<std::string>& words, const char* between = ", ");

/// "32x8", or "" where a block means nothing.
std::string block_text(block_shape block);

/// "4096x1024"
std::string extents_text(const std::vector<std::int64_t>& sizes);

/// "2,0,1": an order of dimensions
std::string order_text(const std::vector<std::int64_t>& order);
/// " to 2,0,1, in strides 90,-3,1": what follows the extents of a permutation; "" for an order and strides that are
/// empty
std::string permutation_text(const std::vector<std::int64_t>& order, const std::vector<std::int64_t>& in_strides,
                             const std::vector<std::int64_t>& out_strides);

/// "1.5 GiB": the largest binary unit that leaves at least 1.
std::string bytes_text(double bytes, int decimals = 1);

/// `text` broken between words into lines of at most `width`, every line after the first indented by two spaces.
std::string wrapped(const std::string& text, std::size_t width = page_width);

/// `text` in at most `width` columns; what is cut off is marked with "..".
std::string shortened(const std::string& text, std::size_t width);

/// Text in aligned columns. Columns in which no row has anything are left out.
class table {
 public:
  enum class align { left, right };
  struct column {
    std::string head;
    align side = align::right;
    bool elastic = false;  ///< shortened when the table would be wider than the page, the last one first
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
