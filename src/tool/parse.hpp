#pragma once

// Words of the command line made into values. Each throws, through refuse(), what is wrong and what would be right.

#include <cstdint>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <twill/element.hpp>
#include <twill/error.hpp>
#include <twill/ladder/rung.hpp>

namespace twill::tool {

/// Bad usage: throws what main prints as one line, "twill: PROBLEM (WHY) SUGGESTION", before it exits with 2.
[[noreturn]] inline void refuse(const std::string& problem, const std::string& why, const std::string& suggestion) {
  throw error(errc::invalid_argument, fmt::format("{} ({}) {}", problem, why, suggestion));
}

/// A rung that cannot do a problem which others can: the bench leaves it out, with this as a note.
[[noreturn]] inline void leave_out(const std::string& problem, const std::string& why,
                                   const std::string& suggestion = "") {
  throw error(errc::unsupported, fmt::format("{} ({}){}{}", problem, why, suggestion.empty() ? "" : " ", suggestion));
}

/// An element type: its name as written and its size, which is all that data movement asks for, and what it is.
struct element_type {
  std::string name;
  std::int64_t bytes = 0;
  twill::element_type kind = twill::element_type::f32;
};

/// Extents of a problem, outermost first: {4096} or {4096, 1024}.
using extents = std::vector<std::int64_t>;

/// Where repetitions happen: `over` launches the kernel again, `in` repeats inside one launch.
enum class loop_kind { over, in };

inline const char* loop_name(loop_kind loop) {
  return loop == loop_kind::over ? "over" : "in";
}

element_type parse_type(const std::string& text);
extents parse_size(const std::string& text);
block_shape parse_block(const std::string& text);
/// "2,0,1"
extents parse_order(const std::string& text);
/// "8192,-1": strides in elements; none for "" and "-", a packed array. `what` is what refusals name.
extents parse_strides(const std::string& what, const std::string& text);
std::vector<loop_kind> parse_loop(const std::string& text);
/// "12" or "2^24", at least `least`; `option` is what refusals name, `example` what they suggest.
std::int64_t parse_count(const std::string& option, const std::string& text, std::int64_t least,
                         const std::string& example = "100");

/// The product of all factors; refuses, naming `what`, when it does not fit 63 bits.
std::int64_t checked_product(const std::vector<std::int64_t>& factors, const std::string& what,
                             const std::string& suggestion = "choose a smaller --size");

}  // namespace twill::tool
