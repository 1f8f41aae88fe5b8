#include "interrupt.hpp"

#include <csignal>

namespace twill::tool {
namespace {

volatile std::sig_atomic_t arrived = 0;

void note(int signal) {
  arrived = signal;
}

constexpr int signals[] = {SIGINT, SIGTERM};

}  // namespace

interrupt_guard::interrupt_guard() {
  arrived = 0;
  struct sigaction once = {};
  once.sa_handler = note;
  once.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int each : signals) {
    struct sigaction before = {};
    sigaction(each, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(each, &once, nullptr);  // as of a background job
  }
}

interrupt_guard::~interrupt_guard() {
  for (const int each : signals) {
    struct sigaction now = {};
    sigaction(each, nullptr, &now);
    if (now.sa_handler == note) std::signal(each, SIG_DFL);
  }
}

int interrupted() {
  return arrived;
}

}  // namespace twill::tool
