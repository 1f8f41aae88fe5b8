#include "core/arguments.hpp"

#include <limits>
#include <string>

#include "backends/error.hpp"

namespace twill::detail {
namespace {

bool apart(const void* a, std::int64_t a_bytes, const void* b, std::int64_t b_bytes) {
  const auto a_first = reinterpret_cast<std::uintptr_t>(a), b_first = reinterpret_cast<std::uintptr_t>(b);
  return a_first < b_first ? b_first - a_first >= static_cast<std::uint64_t>(a_bytes)
                           : a_first - b_first >= static_cast<std::uint64_t>(b_bytes);
}

}  // namespace

void require_extent(std::int64_t value, std::string_view what) {
  if (value >= 0) return;
  fail(errc::invalid_argument, std::string(what) + " is negative", "it is " + std::to_string(value), "give 0 or more");
}

std::int64_t checked_product(std::int64_t a, std::int64_t b, std::string_view what) {
  require_extent(a, what);
  require_extent(b, what);
  if (b != 0 && a > std::numeric_limits<std::int64_t>::max() / b) {
    fail(errc::invalid_argument, std::string(what) + " overflows",
         std::to_string(a) + " * " + std::to_string(b) + " does not fit 63 bits", "split the problem");
  }
  return a * b;
}

void require_pointer(const void* pointer, std::string_view what) {
  if (pointer != nullptr) return;
  fail(errc::invalid_argument, std::string(what) + " is a null pointer", "the shape is not empty",
       "pass device memory");
}

void require_disjoint(const void* in, std::int64_t in_bytes, const void* out, std::int64_t out_bytes) {
  require(apart(in, in_bytes, out, out_bytes), "in and out overlap", "the operation is out of place",
          "use separate memory for the output");
}

void require_scratch_apart(const void* scratch, std::size_t scratch_bytes, const void* memory, std::int64_t bytes,
                           std::string_view what) {
  if (apart(scratch, static_cast<std::int64_t>(scratch_bytes), memory, bytes)) return;
  fail(errc::invalid_argument, "scratch and " + std::string(what) + " overlap", "scratch is written over",
       "use separate memory for scratch");
}

}  // namespace twill::detail
