#pragma once

#include <string>

namespace twill::tool {

/// A line on stderr that says what is being done now; silent unless stderr is a terminal.
class progress {
 public:
  explicit progress(int steps);
  ~progress() { clear(); }
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Starts the next step.
  void step(const std::string& what);
  /// Takes the line away, so that other output can be written.
  void clear() noexcept;

 private:
  int steps_;
  int done_ = 0;
  bool shown_ = false;
  bool terminal_;
};

}  // namespace twill::tool
