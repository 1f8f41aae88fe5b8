// Which kernel transposes what. Elements of 1, 2, 4, 8 and 16 bytes: a few columns or rows (transpose_skinny), rows of
// whole chunks (transpose_tile; transpose_strip where they are short, transpose_quads where there are few), batches of
// small matrices (transpose_small; transpose_whole where they are misaligned; transpose_spans where they have gaps,
// transpose_apart where they are tiny as well), some ten to a hundred columns or rows (transpose_slab, transpose_band),
// misaligned rows (transpose_words). Elements of 3, 5, 6, 7, 12 and 24 bytes are packed (transpose_odd); all
// others are gathered (transpose_gather). The choice depends on shape, strides and alignment alone and takes constant
// time.

#include <cstdint>

#include "families.hpp"
#include "gpu/limits.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {
namespace {

// All row addresses of both sides and the strides between them as one pattern of bits: its lowest bit aligns them all.
std::int64_t alignment_of(const detail::transpose_args& a) {
  const auto addresses = reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out);
  const std::int64_t strides = a.in_ld | a.out_ld | (a.batch > 1 ? a.in_stride | a.out_stride : 0);
  const std::int64_t bits = static_cast<std::int64_t>(addresses) | strides * a.element_bytes | 16;
  return bits & -bits;
}

}  // namespace

void transpose(const detail::work_queue& queue, const detail::transpose_args& args) {
  const std::int64_t alignment = alignment_of(args);
  if (skinny_serves(queue, args)) return start_skinny(queue, args);
  // Below 2 KiB a matrix has too few threads for a block of its own.
  const bool small = small_serves(args, limits_of(queue.device->properties()));
  const std::int64_t bytes = args.rows * args.cols * args.element_bytes;
  if (small && bytes < 2048) return start_small(queue, args);
  const bool few_bytes = bytes < 4096;
  if (few_bytes && transpose_by_spans(queue, args, alignment)) return;
  if (quads_serve(queue, args, alignment)) return start_quads(queue, args);
  if (strip_serves(queue, args, alignment)) return start_strip(queue, args);
  if (tile_serves(args, alignment)) return start_tile(queue, args);
  if (small) return start_small(queue, args);
  if (!few_bytes && transpose_by_spans(queue, args, alignment)) return;
  if (apart_serves(args, alignment)) return start_apart(queue, args, alignment);
  if (whole_serves(queue, args, alignment)) return start_whole(queue, args);
  if (slab_serves(queue, args, alignment)) return start_slab(queue, args);
  if (band_serves(queue, args, alignment)) return start_band(queue, args);
  if (words_serve(queue, args, alignment)) return start_words(queue, args);
  if (!start_odd(queue, args)) start_gather(queue, args, alignment);
}

}  // namespace twill::TWILL_BACKEND
