#pragma once

// What the calls that move data have in common.

#include <optional>

#include <twill/permute.hpp>
#include <twill/stream.hpp>

#include "core/call.hpp"
#include "move/args.hpp"

namespace twill::detail {

/// The normal form of a permutation, all arguments checked; none where there is nothing to move.
std::optional<permute_args> checked_permutation(const void* in, void* out, std::int64_t element_bytes,
                                                const permute_shape& shape);

/// Moves a normal form on the stream's device: a copy or a reversal where it is one.
void run_permutation(stream_ref stream, const permute_args& args);

/// Copies at least one row, by the driver's copy or by a kernel, whichever is faster.
void copy_rows(stream_ref stream, const pitched_rows& rows, copy_direction direction);

}  // namespace twill::detail
