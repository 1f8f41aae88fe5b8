#include "progress.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "text.hpp"

namespace twill::tool {

progress::progress(int steps) : steps_(steps), terminal_(isatty(STDERR_FILENO) != 0) {}

void progress::step(const std::string& what) {
  ++done_;
  if (!terminal_) return;
  const std::string line = shortened(fmt::format("[{}/{}] {}", done_, steps_, what), page_width - 1);
  std::fprintf(stderr, "\r\x1b[K%s", line.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void progress::clear() noexcept {
  if (!shown_) return;
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace twill::tool
