#include "command_line.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <twill/version.hpp>

#include "parse.hpp"
#include "text.hpp"

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

std::string not_empty(const std::string& text) {
  return text.empty() ? "an empty value" : "";
}

}  // namespace

void command::describe(CLI::Option* option, const std::string& value) const {
  if (!value.empty()) option->type_name(value);
  if (!group_.empty()) option->group(group_);
}

void command::text(const std::string& name, std::string& to, const std::string& help, const std::string& value) {
  describe(app_->add_option(name, to, help)->check(not_empty), value);
}

void command::number(const std::string& name, std::optional<int>& to, const std::string& help,
                     const std::string& value) {
  describe(app_->add_option(name, to, help)->check(not_empty), value);
}

void command::flag(const std::string& name, bool& to, const std::string& help) {
  describe(app_->add_flag(name, to, help), "");
}

void command::list(const std::string& name, std::vector<std::string>& to, const std::string& help,
                   const std::string& value) {
  const auto take = [&to, name](const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      for (std::string& part : list_parts(name, word)) to.push_back(std::move(part));
    }
  };
  describe(app_->add_option_function<std::vector<std::string>>(name, take, help)->allow_extra_args(false), value);
}

void command::path(const std::string& name, std::string& to, const std::string& help) {
  describe(app_->add_option(name, to, help)->check(not_empty), "FILE");
}

void command::words(const std::string& name, std::vector<std::string>& to, const std::string& help,
                    const std::string& value) {
  describe(app_->add_option(name, to, help)->required(), value);
}

void command::footer(const std::string& text) {
  app_->footer(text);
}

void command::run(std::function<void()> what) {
  app_->callback(std::move(what));
}

command_line::command_line()
    : app_(std::make_unique<CLI::App>("Memory-bound GPU operations, measured and checked.", "twill")) {
  app_->set_version_flag("--version", std::string("twill ") + version());
  app_->require_subcommand(0, 1);
  app_->get_formatter()->column_width(24);
}

command_line::~command_line() = default;

command command_line::add(const std::string& name, const std::string& help) {
  return command(*app_->add_subcommand(name, help));
}

std::optional<int> command_line::run(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() == 0) return app_->exit(problem);
    const auto chosen = app_->get_subcommands();
    const std::string name = chosen.empty() ? "" : " " + chosen.front()->get_name();
    refuse("command line not understood", problem.what(), "see twill" + name + " --help");
  }
  if (!app_->get_subcommands().empty()) return std::nullopt;
  std::vector<std::string> known;
  for (const CLI::App* each : app_->get_subcommands(nullptr)) known.push_back(each->get_name());
  refuse("no command given", "there are: " + joined(known), "see twill --help");
}

}  // namespace twill::tool
