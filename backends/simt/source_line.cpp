#include "source_line.hpp"

#include <algorithm>
#include <tuple>

#include "elf_file.hpp"
#include "line_program.hpp"

namespace twill::simt {

line_table::line_table(const char* path) {
  const elf_file file(path);
  read_line_tables({file.section(".debug_line"), file.section(".debug_line_str"), file.section(".debug_str")}, *this);
  // Of rows for one place the last one counts, unless one sequence ends where another begins.
  std::stable_sort(rows_.begin(), rows_.end(), [](const row& a, const row& b) {
    return std::tuple(a.offset, a.file != none) < std::tuple(b.offset, b.file != none);
  });
}

std::uint32_t line_table::add_file(std::string name) {
  files_.push_back(std::move(name));
  return static_cast<std::uint32_t>(files_.size() - 1);
}

source_line line_table::find(std::size_t offset) const {
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), offset,
                                      [](std::size_t at, const row& one) { return at < one.offset; });
  if (after == rows_.begin() || std::prev(after)->file >= files_.size()) return {};
  return {files_[std::prev(after)->file], std::prev(after)->line};
}

source_line source_lines::of_call(const void* return_address) {
  const void* const call = static_cast<const char*>(return_address) - 1;
  const code_place place = place_of(call);
  if (place.file.empty()) return {};
  const std::lock_guard lock(mutex_);
  return tables_.try_emplace(place.file, place.file.c_str()).first->second.find(place.offset);
}

std::string short_text(const source_line& at) {
  if (at.file.empty()) return "?";
  const auto slash = at.file.rfind('/');
  return at.file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" + std::to_string(at.line);
}

}  // namespace twill::simt
