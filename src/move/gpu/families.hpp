#pragma once

// The kernel families of transposes: whether one applies to a shape, and its launch, defined in the file of its name.
// `alignment`: of all rows of both sides, in bytes, at most 16.

#include "gpu/limits.hpp"
#include "move/operations.hpp"

namespace twill::TWILL_BACKEND {

/// Whether register blocks of aligned vectors apply to this matrix. `alignment`: of all rows of both sides,
/// in bytes, at most 16.
bool tile_serves(const detail::transpose_args& args, std::int64_t alignment);

/// Only where tile_serves().
void start_tile(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether the rows of these matrices are full vectors, and a multiprocessor gets little of them. `alignment`: of all
/// rows of both sides, in bytes, at most 16.
bool quads_serve(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where quads_serve().
void start_quads(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether the rows of this matrix are 1, 2 or 4 chunks of 16 bytes without gaps. `alignment`: of all rows of both
/// sides, in bytes, at most 16.
bool strip_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where strip_serves().
void start_strip(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether this matrix has a few columns without gaps, or a few rows that become columns without gaps, and its long
/// rows begin and end at multiples of 16 bytes.
bool skinny_serves(const detail::work_queue& queue, const detail::transpose_args& args);

/// Only where skinny_serves().
void start_skinny(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether word tiles apply to this matrix, and are faster than gathering. `alignment`: of all rows of both sides, in
/// bytes, at most 16.
bool words_serve(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where words_serve().
void start_words(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether these are many small packed matrices, of elements of 1, 2, 4, 8 or 16 bytes, from and to multiples of 16.
bool small_serves(const detail::transpose_args& args, const device_limits& limits);

/// Where small_serves(): how many of the first matrices may be transposed with `out` = `in`.
std::int64_t small_in_place(const detail::transpose_args& args);

/// Only where small_serves().
void start_small(const detail::work_queue& queue, const detail::transpose_args& args);

/// Transposes many small matrices with gaps that lie close together, of elements of 1, 2, 4, 8 or 16 bytes aligned at
/// their size. False, and nothing is done, where they are too few, too large or their stride is too long.
bool transpose_by_spans(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// The same for short rows that are copied.
bool copy_by_spans(const detail::work_queue& queue, const detail::pitched_rows& args);

/// Whether these are packed matrices of elements of 1, 2, 4, 8 and 16 bytes that fit in shared memory, enough to keep
/// the device busy. `alignment`: of all rows of both sides, in bytes, at most 16.
bool whole_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where whole_serves().
void start_whole(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether these are packed rows of 9 to 256 columns of 1, 2, 4 and 8 byte elements, enough of them to keep the device
/// busy. `alignment`: of all rows of both sides, in bytes, at most 16.
bool slab_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where slab_serves().
void start_slab(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether these are 9 to 96 rows of 1, 2 and 4 byte elements that become packed columns, long enough to keep the
/// device busy. `alignment`: of all rows of both sides, in bytes, at most 16.
bool band_serves(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// Only where band_serves().
void start_band(const detail::work_queue& queue, const detail::transpose_args& args);

/// Whether these are several tiny matrices with gaps, of which a block takes more than one. `alignment`: of all rows of
/// both sides, in bytes, at most 16.
bool apart_serves(const detail::transpose_args& args, std::int64_t alignment);
void start_apart(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

/// The same of square matrices in place.
bool apart_serves(const detail::transpose_in_place_args& args, std::int64_t alignment);
void swap_apart(const detail::work_queue& queue, const detail::transpose_in_place_args& args, std::int64_t alignment);

/// Starts the transpose of elements of 3, 5, 6, 7, 12 or 24 bytes. False, and nothing is started, where gathering
/// is faster: other sizes, elements off their natural alignment, batches of small matrices.
bool start_odd(const detail::work_queue& queue, const detail::transpose_args& args);

/// Applies to every matrix. `alignment`: of all rows of both sides, in bytes, at most 16.
void start_gather(const detail::work_queue& queue, const detail::transpose_args& args, std::int64_t alignment);

}  // namespace twill::TWILL_BACKEND
