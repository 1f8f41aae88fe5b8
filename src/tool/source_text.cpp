#include "source_text.hpp"

#include <fstream>

namespace twill::tool {

std::string source_text::line(const std::string& file, unsigned number) {
  const auto [found, is_new] = files_.try_emplace(file);
  if (is_new) {
    std::ifstream in(file);
    for (std::string text; std::getline(in, text);) found->second.push_back(text);
  }
  if (number < 1 || number > found->second.size()) return {};
  const std::string& text = found->second[number - 1];
  const auto first = text.find_first_not_of(" \t");
  return first == std::string::npos ? std::string() : text.substr(first);
}

}  // namespace twill::tool
