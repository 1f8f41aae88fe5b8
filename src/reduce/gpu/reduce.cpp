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
  const bool packed = a.rows == 1 || a.over == detail::reduce_over::segments || p.stride % 16 == 0;
  p.aligned = packed && reinterpret_cast<std::uintptr_t>(a.in) % 16 == 0;
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

/// Aligned rows of full vectors, up to half a chunk.
detail::launch_config plan_vector_rows(kernels::reduce_problem& p) {
  const bool is_short = p.bytes <= kernels::short_row_bytes;
  const std::int64_t widest = is_short ? kernels::reduce_lanes : kernels::reduce_threads;
  const std::int64_t vectors = p.bytes / kernels::vector_bytes;
  std::int64_t threads = 1;  // that a row is wide
  while (threads < vectors && threads < widest) threads *= 2;
  while (threads << p.vectors_shift < vectors) ++p.vectors_shift;
  p.mapping = is_short ? kernels::work_mapping::vectors : kernels::work_mapping::medium;
  if (is_short) p.width = static_cast<int>(threads);
  p.packed = p.bytes == p.stride && vectors == threads << p.vectors_shift;
  return grid_of(ceil_div(p.rows, std::int64_t{8} * kernels::reduce_threads / (threads << p.vectors_shift)));
}

}  // namespace

detail::launch_config plan_rows(kernels::reduce_problem& p, const reduce_args& args, const device_properties& device) {
  using kernels::work_mapping;
  if (args.over == detail::reduce_over::segments) {
    p.mapping = work_mapping::segments;
    return grid_of(ceil_div(p.rows, kernels::reduce_parts));
  }
  const bool full_vectors = p.aligned && p.bytes > 0 && p.bytes % kernels::vector_bytes == 0;
  if (full_vectors && p.bytes <= chunk_bytes / 2) return plan_vector_rows(p);
  if (p.bytes > kernels::short_row_bytes) return plan_tasks(p, device);
  const std::int64_t vectors = ceil_div(p.bytes, kernels::vector_bytes);
  if (vectors > kernels::reduce_lanes) {
    p.mapping = work_mapping::warps;
    return grid_of(ceil_div(p.rows, kernels::reduce_parts));
  }
  p.mapping = work_mapping::lanes;
  p.width = 1;
  while (p.width < vectors) p.width *= 2;
  return grid_of(ceil_div(p.rows, std::int64_t{8} * kernels::reduce_threads / p.width));
}

detail::launch_config plan_columns(kernels::column_problem& p, int slots, bool exact, const device_properties& device) {
  const auto tree = exact ? detail::tree_of_exact_columns(p.rows.rows, p.cols, slots, device.multiprocessors)
                          : detail::tree_of_columns_of(p.rows.rows, p.cols, p.rows.params.bytes);
  p.lanes = tree.lanes;
  p.batches = tree.batches;
  p.chunks = static_cast<unsigned>(tree.chunks);
  p.tiles = tree.tiles;
  return grid_of(tree.tiles * tree.chunks);
}

}  // namespace twill::TWILL_BACKEND
