#pragma once

// Movements as copies of rows with a pitch: what copy engines do.

#include <cstdint>
#include <optional>
#include <vector>

#include "move/args.hpp"

namespace twill::detail {

/// `rows` rows of `row_bytes` bytes, from `in_offset` and `out_offset` bytes behind the movement's own begin.
struct pitched_part {
  std::int64_t in_offset, out_offset;
  std::int64_t rows, row_bytes, in_pitch, out_pitch;
};

/// The movement as at most `most` copies of rows; none where it takes more of them, or where the pitch would be
/// negative or shorter than a row.
std::optional<std::vector<pitched_part>> pitched_parts(const permute_args& args, std::int64_t most);

}  // namespace twill::detail
