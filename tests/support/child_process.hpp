#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

namespace support {

#if defined(__SANITIZE_THREAD__)
constexpr bool children_may_have_threads = false;  // ThreadSanitizer ends children of fork() that start threads
#else
constexpr bool children_may_have_threads = true;
#endif

/// Runs f in a fork() of this process and returns the exit code that it gives: 99 for an exception, 256 + N for signal
/// N. A child that hangs is ended by SIGALRM.
template <class F>
int run_in_child(F&& f) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int code = 99;
    try {
      code = f();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "in the child: %s\n", e.what());
    }
    _exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
}

/// What /proc/self/status says, such as the number of "Threads:".
inline long process_status(const std::string& key) {
  std::ifstream file("/proc/self/status");
  for (std::string name; file >> name;) {
    long value = 0;
    if (name == key && file >> value) return value;
  }
  return -1;
}

}  // namespace support
