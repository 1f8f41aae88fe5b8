#pragma once

#include <string_view>

namespace twill::simt {

class line_table;

/// The sections of a file that line tables are in.
struct line_sections {
  std::string_view lines, line_texts, texts;  ///< .debug_line, .debug_line_str, .debug_str
};

/// Adds all rows of the sections; leaves out tables that it cannot read.
void read_line_tables(const line_sections& sections, line_table& to);

}  // namespace twill::simt
