#include "interrupt.hpp"

#include <iterator>

#include <unistd.h>

namespace twill::tool {
namespace {

volatile std::sig_atomic_t arrived = 0;

void note(int signal) {
  arrived = signal;
}

constexpr int signals[] = {SIGINT, SIGTERM};

/// Of a command that has nothing to keep. Calls only what a handler may.
void end_at_once(int signal) {
  constexpr char line[] = "twill: interrupted (before it was done) run it again\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, line, sizeof line - 1);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

void say_interrupts() {
  for (const int each : signals) {
    if (std::signal(each, end_at_once) == SIG_IGN) std::signal(each, SIG_IGN);
  }
}

interrupt_guard::interrupt_guard() {
  arrived = 0;
  struct sigaction once = {};
  once.sa_handler = note;
  once.sa_flags = static_cast<int>(SA_RESETHAND);
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    sigaction(signals[i], nullptr, &before_[i]);
    if (before_[i].sa_handler != SIG_IGN) sigaction(signals[i], &once, nullptr);  // as of a background job
  }
}

interrupt_guard::~interrupt_guard() {
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction now = {};
    sigaction(signals[i], nullptr, &now);
    if (now.sa_handler == note) sigaction(signals[i], &before_[i], nullptr);
  }
}

int interrupted() {
  return arrived;
}

}  // namespace twill::tool
