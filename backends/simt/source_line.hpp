#pragma once

// Which line of the source a place of the code comes from, by the line tables (DWARF 3 to 5) that compilers write for
// -g and -g1.

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace twill::simt {

struct source_line {
  std::string file;  ///< as it was given to the compiler; empty when the program has no line table for the place
  unsigned line = 0;
};

/// The line tables of one file.
class line_table {
 public:
  explicit line_table(const char* path);
  source_line find(std::size_t offset) const;

  // What the reader of the tables adds.
  struct row {
    std::size_t offset;
    std::uint32_t file;  // in files_; none where a sequence of rows ends
    std::uint32_t line;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  void add(const row& one) { rows_.push_back(one); }
  std::uint32_t add_file(std::string name);

 private:
  std::vector<row> rows_;
  std::vector<std::string> files_;
};

/// Those of the program and its libraries, read when they are first needed. Safe to use from several threads.
class source_lines {
 public:
  /// Of the call that returns to `return_address`.
  source_line of_call(const void* return_address);

 private:
  std::mutex mutex_;
  std::map<std::string, line_table> tables_;  // by path
};

/// "transpose_ladder.hpp:38"; "?" for a place that no table knows.
std::string short_text(const source_line& at);

}  // namespace twill::simt
