#include "environment.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "backends/error.hpp"
#include "machine.hpp"

namespace twill::host {
namespace {

std::string assignment(std::string_view name, std::string_view value) {
  return std::string(name) + " is \"" + std::string(value) + "\"";
}

}  // namespace

int default_thread_count() {
  const char* const asked = std::getenv("TWILL_THREADS");
  if (asked == nullptr) return usable_cpus();
  const std::string_view text(asked);
  int count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || count < 1 || count > 1024) {
    detail::fail(errc::invalid_argument, assignment("TWILL_THREADS", text), "it must be an integer from 1 to 1024",
                 "set it to one, or unset it for all CPUs that the process may use");
  }
  return count;
}

bool environment_switch(const char* name) {
  const char* const asked = std::getenv(name);
  if (asked == nullptr) return false;
  const std::string_view text(asked);
  for (const std::string_view on : {"1", "on", "yes"}) {
    if (text == on) return true;
  }
  for (const std::string_view off : {"0", "off", "no"}) {
    if (text == off) return false;
  }
  detail::fail(errc::invalid_argument, assignment(name, text), "it must be 1, on, yes, 0, off or no",
               "set it to one of these, or unset it");
}

}  // namespace twill::host
