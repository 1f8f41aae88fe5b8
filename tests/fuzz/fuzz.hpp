#pragma once

// What the fuzzers share.

#include <cstddef>
#include <cstdint>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include <twill/error.hpp>

namespace fuzz {

/// Runs a parser, which may refuse its text with a twill::error; anything else is a finding. Returns the message.
template <class F>
std::string parse(F&& f) {
  try {
    f();
    return {};
  } catch (const twill::error& e) {
    const std::string text = e.what();
    if (text.empty() || e.code() != twill::errc::invalid_argument) __builtin_trap();
    return text;
  }
}

/// A file in memory, for parsers that read one.
class file {
 public:
  file(const std::uint8_t* data, std::size_t size) : descriptor_(memfd_create("fuzz", 0)) {
    if (write(descriptor_, data, size) != static_cast<ssize_t>(size)) __builtin_trap();
  }
  ~file() { close(descriptor_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

}  // namespace fuzz
