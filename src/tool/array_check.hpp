#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <twill/ladder/rung.hpp>
#include <twill/stream.hpp>

#include "parse.hpp"

namespace twill::tool {

/// Whether a rung of the sieve leaves a bit for each odd number, not a flag for each number.
bool leaves_bits(const rung& which);

/// Where `out`, `count` elements in device memory, first differs from what `which`, a rung of the ladder of `op`, makes
/// of the input of numbers.hpp; "" when nowhere.
std::string array_fault(stream_ref stream, std::string_view op, const rung& which, const element_type& type,
                        std::int64_t count, const void* out);

}  // namespace twill::tool
