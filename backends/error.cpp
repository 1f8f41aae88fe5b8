#include "error.hpp"

namespace twill {

const char* name(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::out_of_memory:
      return "out_of_memory";
    case errc::no_device:
      return "no_device";
    case errc::unsupported:
      return "unsupported";
    case errc::launch_failed:
      return "launch_failed";
    case errc::device_fault:
      return "device_fault";
  }
  return "unknown";
}

namespace detail {
namespace {

std::string sentence(std::string_view problem, std::string_view why, std::string_view suggestion) {
  std::string text(problem);
  if (!why.empty()) text.append(" (").append(why).append(")");
  if (!suggestion.empty()) text.append(" ").append(suggestion);
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

}  // namespace detail
}  // namespace twill
