#include <string>
#include <vector>

#include "commands.hpp"
#include "parse.hpp"

namespace twill::tool {
namespace {

/// The parts of "2048,4096"; none may be empty. An empty text is one part: what takes it says what is wrong with it.
std::vector<std::string> list_parts(const std::string& option, const std::string& text) {
  std::vector<std::string> parts(1);
  for (const char each : text) {
    if (each == ',') {
      parts.emplace_back();
    } else {
      parts.back() += each;
    }
  }
  for (const std::string& part : parts) {
    if (!part.empty() || parts.size() == 1) continue;
    refuse(fmt::format("{} {} has an empty part", option, text), "commas stand between two values", "leave one out");
  }
  return parts;
}

}  // namespace

CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                      const std::string& help, const std::string& value) {
  const auto take = [&values, name](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      for (std::string& part : list_parts(name, word)) values.push_back(std::move(part));
    }
  };
  return command.add_option_function<std::vector<std::string>>(name, take, help)
      ->allow_extra_args(false)
      ->type_name(value);
}

CLI::Option* add_path(CLI::App& command, const std::string& name, std::string& path, const std::string& help) {
  const auto not_empty = [](const std::string& text) {
    return text.empty() ? std::string("an empty path (name a file, or -)") : std::string();
  };
  return command.add_option(name, path, help)->type_name("FILE")->check(not_empty);
}

}  // namespace twill::tool
