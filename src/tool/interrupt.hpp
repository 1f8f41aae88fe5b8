#pragma once

#include <csignal>

namespace twill::tool {

/// From here on SIGINT and SIGTERM end the tool with a line that says so, unless they are ignored, as in a background
/// job.
void say_interrupts();

/// While one lives, SIGINT and SIGTERM only ask a bench to stop and to write what it has; a second one ends the tool.
class interrupt_guard {
 public:
  interrupt_guard();
  ~interrupt_guard();
  interrupt_guard(const interrupt_guard&) = delete;
  interrupt_guard& operator=(const interrupt_guard&) = delete;

 private:
  struct sigaction before_[2];
};

/// The signal that arrived since the guard was made; 0 for none.
int interrupted();

}  // namespace twill::tool
