#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace twill::tool {

/// What was to be written could not be: exit code 3.
class write_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that is replaced atomically: written beside it, then renamed.
class output_file {
 public:
  /// `path` "" is no file; "-" is standard output. Refuses, at once, a path that could not be written later.
  explicit output_file(const std::string& path);

  bool wanted() const { return !path_.empty(); }
  bool is_stdout() const { return path_ == "-" || path_ == "/dev/stdout"; }

  /// Does nothing when no file is wanted. Throws write_error. A signal that arrives meanwhile cannot leave a part
  /// behind.
  void write(const std::string& text) const;

 private:
  std::string path_;       ///< as the user wrote it
  std::string target_;     ///< what a symbolic link points to
  std::string temporary_;  ///< "" where the target is no plain file (a pipe, a terminal): written straight
};

/// A path of the command line, and what it was given as: "--json".
struct named_path {
  std::string option, path;
};

/// Refuses outputs that name the same file as another output, or as an input: one would be lost.
void require_distinct(const std::vector<named_path>& outputs, const std::vector<named_path>& inputs = {});

}  // namespace twill::tool
