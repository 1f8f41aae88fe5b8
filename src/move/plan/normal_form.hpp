#pragma once

// Permutations in normal form: what any backend's permute works on.

#include <optional>

#include "move/args.hpp"

namespace twill::detail {

/// Makes `args`, whose dimensions come in any order and may have strides of either sign and extents of 1, normal: drops
/// extents of 1, makes the output's strides positive, sorts, and fuses what is contiguous alike; then the dimension
/// that is contiguous in the input in reverse may be turned to the input's direction, with a negative stride in the
/// output. `run_bytes` grows by the dimensions that are contiguous on both sides. The output's elements do not meet.
void normalise(permute_args& args);

/// The normal form of a transpose; strides of extents of 1 are ignored.
permute_args normal_form_of(const transpose_args& args);

/// The transpose that a normal permutation is, if it is one: of elements of up to 64 bytes, in one batch.
std::optional<transpose_args> as_transpose(const permute_args& args);

}  // namespace twill::detail
