#pragma once

// The command line: commands and their options. command_line.cpp alone includes CLI11, whose header costs ten seconds a
// file.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace twill::tool {

/// One command of the tool. What its options are stored in outlives the command line.
class command {
 public:
  explicit command(CLI::App& app) : app_(&app) {}

  /// The heading of the options added from here on.
  void group(const std::string& heading) { group_ = heading; }

  // `value` names what follows the option in the help: "NAME". An empty value is refused.
  void text(const std::string& name, std::string& to, const std::string& help, const std::string& value);
  void number(const std::string& name, std::optional<int>& to, const std::string& help, const std::string& value);
  void flag(const std::string& name, bool& to, const std::string& help);
  /// May be given again, or take a list: "2048,4096".
  void list(const std::string& name, std::vector<std::string>& to, const std::string& help, const std::string& value);
  void path(const std::string& name, std::string& to, const std::string& help);
  /// The command's own words, at least one.
  void words(const std::string& name, std::vector<std::string>& to, const std::string& help, const std::string& value);

  /// What the help ends with.
  void footer(const std::string& text);
  /// Called once all options are read.
  void run(std::function<void()> what);

 private:
  void describe(CLI::Option* option, const std::string& value) const;

  CLI::App* app_;
  std::string group_;
};

/// The command line.
class command_line {
 public:
  command_line();
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  command add(const std::string& name, const std::string& help);

  /// Runs the command that was given, and refuses what it cannot read. Returns an exit code where help or the version
  /// was asked for and printed.
  std::optional<int> run(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace twill::tool
