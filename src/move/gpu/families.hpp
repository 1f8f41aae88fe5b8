#pragma once

// The launches of the kernel families of transposes, each defined in the file of its name. To which shapes they apply,
// move/plan/transposes.hpp says. Those that return bool launch nothing and return false where they do not apply after
// all; `only_ask`: nothing is launched.

#include "gpu/limits.hpp"
#include "move/operations.hpp"

namespace twill::TWILL_BACKEND {

void start_tile(const detail::work_queue& queue, const detail::transpose_args& args);
void start_quads(const detail::work_queue& queue, const detail::transpose_args& args);
void start_skinny(const detail::work_queue& queue, const detail::transpose_args& args);
void start_words(const detail::work_queue& queue, const detail::transpose_args& args);
void start_whole(const detail::work_queue& queue, const detail::transpose_args& args);
void start_slab(const detail::work_queue& queue, const detail::transpose_args& args);
void start_apart(const detail::work_queue& queue, const detail::transpose_args& args);
void start_band(const detail::work_queue& queue, const detail::transpose_args& args);
bool transpose_by_spans(const detail::work_queue& queue, const detail::transpose_args& args, bool only_ask);
bool start_odd(const detail::work_queue& queue, const detail::transpose_args& args, bool only_ask);

/// Of small packed matrices (detail::is_staged).
void start_small(const detail::work_queue& queue, const detail::transpose_args& args);

/// How many of the first matrices start_small() may transpose with `out` = `in`.
std::int64_t small_in_place(const detail::transpose_args& args);

/// Copies short rows with gaps between them; false, and nothing is done, where other kernels are ahead.
bool copy_by_spans(const detail::work_queue& queue, const detail::pitched_rows& args);

/// Whether these are several tiny square matrices with gaps, of which a block takes more than one. `alignment`: of all
/// rows, in bytes, at most 16.
bool apart_serves(const detail::transpose_in_place_args& args, std::int64_t alignment);
void swap_apart(const detail::work_queue& queue, const detail::transpose_in_place_args& args, std::int64_t alignment);

}  // namespace twill::TWILL_BACKEND
