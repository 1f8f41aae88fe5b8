#pragma once

namespace twill::tool {

/// While one lives, SIGINT and SIGTERM only ask a bench to stop and to write what it has; a second one ends the tool.
class interrupt_guard {
 public:
  interrupt_guard();
  ~interrupt_guard();
  interrupt_guard(const interrupt_guard&) = delete;
  interrupt_guard& operator=(const interrupt_guard&) = delete;
};

/// The signal that arrived since the guard was made; 0 for none.
int interrupted();

}  // namespace twill::tool
