#pragma once

// Words of the command line made into values. Each throws, through refuse(), what is wrong and what would be right.

#include <cstdint>
#include <string>
#include <vector>

#include <twill/element.hpp>
#include <twill/ladder/rung.hpp>

namespace twill::tool {

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

element_type parse_type(const std::string& text);
extents parse_size(const std::string& text);
block_shape parse_block(const std::string& text);
/// "2,0,1"
extents parse_order(const std::string& text);
std::vector<loop_kind> parse_loop(const std::string& text);

/// The product of all factors; refuses, naming `what`, when it does not fit 63 bits.
std::int64_t checked_product(const std::vector<std::int64_t>& factors, const std::string& what);

}  // namespace twill::tool
