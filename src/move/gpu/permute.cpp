// Which kernel permutes what.

#include "elementwise.hpp"

#include <algorithm>

#include "box.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"
#include "move/plan/normal_form.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::work_queue;

// Below, runs of the input are too short to be read one by one: where they are chunks of 16 bytes, and where not.
constexpr std::int64_t least_row_chunks = 64, least_row_bytes = 256;

template <class Unit>
void start_naive(const work_queue& queue, const permute_args& a) {
  constexpr std::int64_t size = sizeof(Unit);
  kernels::naive_dims d{};
  const auto add = [&](std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    d.extent[d.rank] = extent;
    d.in_stride[d.rank] = in_stride;
    d.out_stride[d.rank++] = out_stride;
    d.units *= extent;
  };
  d.units = 1;
  add(a.run_bytes / size, size, size);
  for (int i = 0; i < a.rank; ++i) add(a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride);
  const std::int64_t blocks = (d.units + kernels::naive_threads - 1) / kernels::naive_threads;
  check(launch(queue, grid_of(blocks, kernels::naive_threads, 0), &kernels::permute_naive<Unit>,
               static_cast<unsigned char*>(a.out), static_cast<const unsigned char*>(a.in), d),
        "launch of permute");
}

void permute_naively(const work_queue& queue, const permute_args& a) {
  switch (unit_of(a)) {
    case 1:
      return start_naive<std::uint8_t>(queue, a);
    case 2:
      return start_naive<std::uint16_t>(queue, a);
    case 4:
      return start_naive<std::uint32_t>(queue, a);
    case 8:
      return start_naive<std::uint64_t>(queue, a);
    default:
      return start_naive<word16>(queue, a);
  }
}

// A batch of transposes, with one more dimension that is short around it: a launch for each of its indices, where each
// has much to do and both sides are read and written in long runs.
bool permute_by_transposes(const work_queue& queue, const permute_args& a) {
  constexpr std::int64_t most_launches = 8, least_bytes = 4 << 20, long_run = 128;
  if (a.rank != 4) return false;
  for (int i = 1; i < a.rank; ++i) {
    const detail::permute_dim around = a.dims[i];
    permute_args inner = a;
    std::copy(a.dims + i + 1, a.dims + a.rank, inner.dims + i);
    inner.rank = a.rank - 1;
    const auto as = detail::as_transpose(inner);
    if (around.extent > most_launches || !as) continue;
    const std::int64_t bytes = as->rows * as->cols * as->batch * a.run_bytes;
    const bool in_long = as->cols * a.run_bytes >= long_run || as->in_ld == as->cols;
    const bool out_long = as->rows * a.run_bytes >= long_run || as->out_ld == as->rows;
    if (bytes < least_bytes || !in_long || !out_long) continue;
    for (std::int64_t index = 0; index < around.extent; ++index) {
      detail::transpose_args one = *as;
      one.in = static_cast<const unsigned char*>(a.in) + index * around.in_stride;
      one.out = static_cast<unsigned char*>(a.out) + index * around.out_stride;
      transpose(queue, one);
    }
    return true;
  }
  return false;
}

}  // namespace

void permute(const work_queue& queue, const permute_args& a) {
  if (const auto as = detail::as_transpose(a)) return transpose(queue, *as);
  const std::int64_t least_row = unit_of(a) == 16 ? least_row_chunks : least_row_bytes;
  if (permute_by_pieces(queue, a) || (a.run_bytes >= least_row && permute_by_rows(queue, a))) return;
  if (permute_by_tile(queue, a) || permute_by_words(queue, a)) return;
  if (permute_by_transposes(queue, a) || permute_by_gather(queue, a)) return;
  permute_naively(queue, a);
}

}  // namespace twill::TWILL_BACKEND
