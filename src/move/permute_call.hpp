#pragma once

// What the calls that move data have in common.

#include <optional>
#include <string_view>

#include <twill/permute.hpp>
#include <twill/stream.hpp>

#include "core/call.hpp"
#include "move/args.hpp"

namespace twill::detail {

/// From the first element (or byte) to one past the last of `count` blocks of `length`, whose starts are `stride`
/// apart. Throws: invalid_argument if that exceeds 2^63 - 1. `what` and `unit`, "elements" or "bytes", for the message.
std::int64_t checked_span(std::int64_t count, std::int64_t stride, std::int64_t length, std::string_view what,
                          std::string_view unit = "elements");

/// The size in bytes of elements one after another, all checked; 0 for none.
std::int64_t checked_array_bytes(std::int64_t element_bytes, std::int64_t count);

/// Whether matrices of a batch share no element: they lie one after another, or side by side in rows that are long
/// enough for all of them.
bool matrices_disjoint(std::int64_t rows, std::int64_t cols, std::int64_t ld, std::int64_t batch, std::int64_t stride);

/// The normal form of a permutation, all arguments checked; none where there is nothing to move.
std::optional<permute_args> checked_permutation(const void* in, void* out, std::int64_t element_bytes,
                                                const permute_shape& shape);

/// Moves a normal form on the stream's device: a copy or a reversal where it is one.
void run_permutation(stream_ref stream, const permute_args& args);

/// Copies at least one row, by the driver's copy or by a kernel, whichever is faster.
void copy_rows(stream_ref stream, const pitched_rows& rows, copy_direction direction);

}  // namespace twill::detail
