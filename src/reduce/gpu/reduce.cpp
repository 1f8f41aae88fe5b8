// Work mapping of reductions: which kernel and grid for which shape.

#include "dispatch.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "gpu/limits.hpp"
#include "reduce/column_tree.hpp"
#include "reduce/scratch.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::reduce_args;
using kernels::chunk_bytes;

/// A 2-D grid of at least `blocks` blocks within the limits of every device: 65535 blocks along x on sm_1x, 2^32
/// threads along x on AMD.
detail::launch_config grid_of(std::int64_t blocks) {
  constexpr std::int64_t most = 65535;
  if (blocks > most * most) {
    detail::fail(errc::unsupported, "the reduction exceeds the maximum grid size", std::to_string(blocks) + " blocks",
                 "reduce the rows in several calls");
  }
  return {detail::rectangle(blocks, most), {kernels::reduce_threads, 1, 1}, 0};
}

static_assert(chunk_bytes == detail::reduce_chunk_bytes, "scratch is asked for by the number of chunks");

// A row shared by several blocks needs a ticket.
constexpr std::int64_t max_shared_rows = detail::reduce_ticket_bytes / sizeof(std::uint32_t);

/// Fills 16 bytes with `element`; for complex types, with the real part `element` and the imaginary part `imaginary`.
void repeat_element(std::uint32_t (&words)[4], std::uint64_t element, element_type type, std::uint64_t imaginary) {
  const std::size_t bytes_each = element_bytes(type), part = type == element_type::c64    ? 4
                                                             : type == element_type::c128 ? 8
                                                                                          : bytes_each;
  unsigned char bytes[16];
  for (std::size_t at = 0; at < 16; at += part) {
    std::memcpy(bytes + at, at % bytes_each == 0 ? &element : &imaginary, part);
  }
  std::memcpy(words, bytes, 16);
}

bool aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kernels::vector_bytes == 0;
}

}  // namespace

kernels::reduce_problem problem_of(const reduce_args& a, const op_traits& traits) {
  kernels::reduce_problem p{};
  const auto element = static_cast<std::int64_t>(element_bytes(a.in_type));
  p.in = static_cast<const unsigned char*>(a.in);
  p.rows = a.rows;
  p.bytes = a.cols * element;
  p.stride = a.ld * element;
  p.offsets = a.offsets;
  p.tasks = 1;
  p.width = kernels::reduce_lanes;
  p.mapping = kernels::work_mapping::tasks;
  p.contiguous = p.stride == p.bytes;
  const bool same = a.rows == 1 || a.over == detail::reduce_over::segments || p.stride % 16 == 0;
  const bool is_long = a.over == detail::reduce_over::rows && p.bytes > chunk_bytes / 2;
  p.full_vectors = same && aligned(a.in) && p.bytes > 0 && (is_long || p.bytes % kernels::vector_bytes == 0);
  p.tickets = static_cast<std::uint32_t*>(a.scratch);
  if (a.scratch != nullptr) p.partials = static_cast<unsigned char*>(a.scratch) + detail::reduce_ticket_bytes;
  const bool nothing = (a.over == detail::reduce_over::columns ? a.rows : a.cols) == 0;
  const std::uint64_t imaginary = a.op == reduce_op::sum && traits.pad != traits.empty ? traits.pad : 0;
  repeat_element(p.empty, traits.empty, a.in_type, 0);
  repeat_element(p.pad, traits.pad, a.in_type, imaginary);
  if (nothing && a.over != detail::reduce_over::segments) std::memcpy(p.pad, p.empty, sizeof p.pad);
  p.params = traits.params;
  p.params.bytes = static_cast<int>(element);
  while ((1 << p.params.shift) < p.params.bytes) ++p.params.shift;
  p.output.out = a.out;
  p.output.out_bytes = static_cast<int>(element_bytes(a.out_type));
  p.output.op = traits.epilogue;
  p.output.flip = traits.params.flip;
  p.output.nan = traits.nan;
  return p;
}

namespace {

detail::launch_config plan_tasks(kernels::reduce_problem& p, const device_properties& device) {
  const std::int64_t chunks = ceil_div(p.bytes, chunk_bytes);
  // At least three blocks a multiprocessor; up to 16 chunks a block beyond that.
  const std::int64_t enough = std::max<std::int64_t>(1, std::int64_t{3} * device.multiprocessors);
  const std::int64_t most = p.rows > max_shared_rows ? 1 : kernels::max_tasks;
  const auto tasks = [&] { return ceil_div(chunks, std::int64_t{1} << p.chunk_shift); };
  while (tasks() > most || p.rows * tasks() > 4 * kernels::max_tasks ||
         (p.chunk_shift < 4 && p.rows * ceil_div(chunks, std::int64_t{2} << p.chunk_shift) >= enough)) {
    if (tasks() == 1) break;
    ++p.chunk_shift;
  }
  p.tasks = static_cast<unsigned>(tasks());
  return grid_of(p.rows * tasks());
}

/// Rows of up to half a chunk.
detail::launch_config plan_short_rows(kernels::reduce_problem& p) {
  const bool is_short = p.bytes <= kernels::short_row_bytes;
  const std::int64_t widest = is_short ? kernels::reduce_lanes : kernels::reduce_threads;
  const std::int64_t vectors = ceil_div(p.bytes, kernels::vector_bytes);
  std::int64_t threads = 1;  // that a row is wide
  while (threads < vectors && threads < widest) threads *= 2;
  while (threads << p.vectors_shift < vectors) ++p.vectors_shift;
  p.mapping = is_short ? kernels::work_mapping::vectors : kernels::work_mapping::medium;
  if (is_short) p.width = static_cast<int>(threads);
  p.filled = p.bytes == kernels::vector_bytes * (threads << p.vectors_shift);
  return grid_of(ceil_div(p.rows, std::int64_t{8} * kernels::reduce_threads / (threads << p.vectors_shift)));
}

}  // namespace

detail::launch_config plan_rows(kernels::reduce_problem& p, const reduce_args& args, const device_properties& device) {
  if (args.over == detail::reduce_over::segments) {
    p.mapping = kernels::work_mapping::segments;
    return grid_of(ceil_div(p.rows, kernels::reduce_parts));
  }
  return p.bytes <= chunk_bytes / 2 ? plan_short_rows(p) : plan_tasks(p, device);
}

detail::launch_config plan_columns(kernels::column_problem& p, int slots, bool exact, const device_properties& device) {
  kernels::reduce_problem& r = p.rows;
  const detail::column_shape shape{r.rows, p.cols, slots, r.contiguous};
  const auto tree =
      exact ? detail::tree_of_exact_columns(shape, device.multiprocessors) : detail::tree_of_columns(shape);
  if (tree.fold > 1) {
    p.rest = static_cast<int>(r.rows % tree.fold * p.cols);
    p.cols *= tree.fold;
    r.rows /= tree.fold;
    r.stride = r.bytes *= tree.fold;
    r.full_vectors = aligned(r.in);
  }
  p.fold = tree.fold;
  p.lanes = tree.lanes;
  p.batches = tree.batches;
  p.chunks = static_cast<unsigned>(tree.chunks);
  p.tiles = tree.tiles;
  if (r.full_vectors) {
    p.alignment = kernels::row_alignment::full_vectors;
  } else if (r.contiguous && tree.fold == 1 && tree.shiftable(slots) &&
             tree.parts() * r.stride % kernels::vector_bytes == 0) {
    p.alignment = kernels::row_alignment::alike_in_parts;
    p.tiles = tree.shifted_tiles();
  }
  return grid_of(p.tiles * tree.chunks);
}

}  // namespace twill::TWILL_BACKEND
