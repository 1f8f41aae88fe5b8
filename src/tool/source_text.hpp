#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace twill::tool {

/// Lines of source files, which are read when they are first asked for.
class source_text {
 public:
  enum class state { as_built, changed, missing };

  /// Files that were written later than this program was built count as changed: their lines are others.
  source_text();

  state of(const std::string& file);

  /// Without its indentation; "" when there is no such line, or when the file is not as it was built.
  std::string line(const std::string& file, unsigned number);

 private:
  struct source_file {
    state is = state::missing;
    std::vector<std::string> lines;
  };
  const source_file& read(const std::string& path);

  std::filesystem::file_time_type built_;
  std::map<std::string, source_file> files_;
};

}  // namespace twill::tool
