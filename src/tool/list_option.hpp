#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "refuse.hpp"

namespace twill::tool {

/// The parts of "2048,4096"; none may be empty. An empty text is one part: what takes it says what is wrong with it.
inline std::vector<std::string> list_parts(const std::string& option, const std::string& text) {
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

/// An option that may be given again, or take a list.
inline CLI::Option* add_list(CLI::App& command, const std::string& name, std::vector<std::string>& values,
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

}  // namespace twill::tool
