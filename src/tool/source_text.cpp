#include "source_text.hpp"

#include <fstream>
#include <system_error>

namespace twill::tool {
namespace fs = std::filesystem;
namespace {

// Line tables of the library name sources relative to the source tree, which this program is built below, or, from a
// compiler cache, to the folder that they were compiled in.
fs::path in_source_tree(const std::string& named) {
  fs::path path;
  for (const fs::path& part : fs::path(named)) {
    if (!path.empty() || part != "..") path /= part;
  }
  std::error_code failed;
  fs::path folder = fs::read_symlink("/proc/self/exe", failed);
  while (folder.has_relative_path()) {
    folder = folder.parent_path();
    if (fs::exists(folder / path, failed)) return folder / path;
  }
  return path;
}

}  // namespace

source_text::source_text() {
  std::error_code failed;
  built_ = fs::last_write_time("/proc/self/exe", failed);
  if (failed) built_ = fs::file_time_type::max();
}

const source_text::source_file& source_text::read(const std::string& path) {
  const auto [found, is_new] = files_.try_emplace(path);
  source_file& file = found->second;
  if (!is_new) return file;
  std::error_code failed;
  const fs::path place = in_source_tree(path);
  const auto written = fs::last_write_time(place, failed);
  if (failed) return file;
  file.is = written > built_ ? state::changed : state::as_built;
  if (file.is == state::changed) return file;
  std::ifstream in(place);
  for (std::string text; std::getline(in, text);) file.lines.push_back(text);
  return file;
}

source_text::state source_text::of(const std::string& file) {
  return read(file).is;
}

std::string source_text::line(const std::string& file, unsigned number) {
  const auto& lines = read(file).lines;
  if (number < 1 || number > lines.size()) return {};
  const std::string& text = lines[number - 1];
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : text.substr(first);
}

}  // namespace twill::tool
