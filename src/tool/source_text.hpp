#pragma once

#include <map>
#include <string>
#include <vector>

namespace twill::tool {

/// Lines of source files, which are read when they are first asked for.
class source_text {
 public:
  /// Without what it is indented by; "" when there is no such file or line here.
  std::string line(const std::string& file, unsigned number);

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace twill::tool
