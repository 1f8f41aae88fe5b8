// The checks that templates of the public headers make, and so part of what libtwill exports.

#include <string>

#include <twill/detail/arguments.hpp>

#include "backends/error.hpp"

namespace twill::detail {

void require_aligned(const char* operation, const void* pointer, std::size_t alignment, const char* what) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  fail(errc::invalid_argument, std::string(operation) + ": " + what + " is misaligned",
       "it has to be a multiple of " + std::to_string(alignment) + " bytes", "pass an aligned pointer");
}

void fail_extent(std::uint64_t value) {
  fail(errc::invalid_argument, "extent: the number is too large",
       std::to_string(value) + " overflows a 64-bit signed integer", "give a smaller one");
}

}  // namespace twill::detail
