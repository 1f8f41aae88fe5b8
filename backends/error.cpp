#include "error.hpp"

#include <algorithm>

namespace twill::detail {
namespace {

std::string sentence(std::string_view problem, std::string_view why, std::string_view suggestion) {
  std::string text(problem);
  if (!why.empty()) text.append(" (").append(why).append(")");
  if (!suggestion.empty()) text.append(" ").append(suggestion);
  // Names and values from outside may hold anything.
  std::replace_if(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, '?');
  return text;
}

}  // namespace

void fail(errc code, std::string_view problem, std::string_view why, std::string_view suggestion) {
  throw error(code, sentence(problem, why, suggestion));
}

void fail_at(errc code, std::string_view problem, std::string_view why, std::string_view suggestion, const char* file,
             int line) {
  std::string_view path(file);
  path.remove_prefix(path.find_last_of('/') + 1);  // npos + 1 is 0
  throw error(code,
              sentence(problem, why, suggestion).append(" [").append(path).append(":") + std::to_string(line) + "]");
}

}  // namespace twill::detail
