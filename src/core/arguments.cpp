#include "core/arguments.hpp"

#include <limits>
#include <string>

#include <twill/device.hpp>

#include "backends/error.hpp"

namespace twill::detail {
namespace {

bool disjoint(const named_memory& a, const named_memory& b) {
  if (a.bytes == 0 || b.bytes == 0) return true;
  const auto a_first = reinterpret_cast<std::uintptr_t>(a.first), b_first = reinterpret_cast<std::uintptr_t>(b.first);
  return a_first < b_first ? b_first - a_first >= static_cast<std::uint64_t>(a.bytes)
                           : a_first - b_first >= static_cast<std::uint64_t>(b.bytes);
}

}  // namespace

void require_extent(std::int64_t value, std::string_view what) {
  if (value >= 0) return;
  fail(errc::invalid_argument, std::string(what) + " is negative", "it is " + std::to_string(value), "give 0 or more");
}

std::int64_t checked_bytes(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())) {
    fail(errc::invalid_argument, "bytes is too large", std::to_string(bytes) + " overflows a 64-bit signed integer",
         "give a smaller number");
  }
  return static_cast<std::int64_t>(bytes);
}

std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view what) {
  require_extent(a, what);
  require_extent(b, what);
  if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b) {
    fail(errc::invalid_argument, std::string(what) + ": overflow of a 64-bit signed integer",
         std::to_string(a) + " * " + std::to_string(b), "split the problem");
  }
  return a * b;
}

void require_pointer(const void* pointer, std::string_view what) {
  if (pointer != nullptr) return;
  fail(errc::invalid_argument, std::string(what) + " is null", "the shape is not empty", "pass device memory");
}

void require_aligned(const void* pointer, std::size_t alignment, std::string_view what) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0) return;
  fail(errc::invalid_argument, std::string(what) + " is misaligned",
       "it has to be a multiple of " + std::to_string(alignment) + " bytes", "pass an aligned pointer");
}

void require_element_bytes(std::int64_t bytes, std::int64_t most) {
  if (bytes >= 1 && bytes <= most) return;
  fail(errc::invalid_argument, "element_bytes is " + std::to_string(bytes), "elements of this size cannot be moved",
       most == INT64_MAX ? "use 1 or more" : "use 1 to " + std::to_string(most) + " bytes");
}

std::int64_t explicit_ld(std::int64_t given, std::int64_t row, std::string_view what) {
  require_extent(given, what);
  if (given == 0) return row;
  if (given < row) {
    fail(errc::invalid_argument, std::string(what) + " is too small",
         std::to_string(given) + ", but a row has " + std::to_string(row) + " elements", "enlarge it");
  }
  return given;
}

void require_disjoint(const named_memory& a, const named_memory& b) {
  if (disjoint(a, b)) return;
  fail(errc::invalid_argument, std::string(a.name).append(" and ").append(b.name).append(" overlap"),
       std::to_string(a.bytes) + " and " + std::to_string(b.bytes) + " bytes", "use separate memory");
}

void require_memory(const named_memory& memory, std::size_t alignment) {
  if (memory.bytes == 0) return;
  require_pointer(memory.first, memory.name);
  require_aligned(memory.first, alignment, memory.name);
}

void require_all_disjoint(const named_memory& a, const named_memory& b, const named_memory& c) {
  require_disjoint(a, b);
  require_disjoint(a, c);
  require_disjoint(b, c);
}

void require_scratch(const scratch_ref& scratch, std::size_t needed, std::string_view operation,
                     std::size_t alignment) {
  if (needed == 0) return;
  if (scratch.bytes < needed) {
    fail(errc::invalid_argument, "scratch is too small",
         std::to_string(scratch.bytes) + " bytes, but " + std::to_string(needed) + " are needed",
         "ask " + std::string(operation) + "_scratch_bytes");
  }
  require_pointer(scratch.data, "scratch");
  require_aligned(scratch.data, alignment, "scratch");
}

void fail_enumerator(std::int64_t value, std::string_view what) {
  fail(errc::invalid_argument, std::string(what) + " is " + std::to_string(value), "there is no such enumerator",
       "pass one of the enumeration's");
}

}  // namespace twill::detail
