// The grids of reductions: how much work a block takes.

#include "dispatch.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "reduce/work_mapping.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::reduce_args;
using kernels::chunk_bytes;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// A rectangle of at least so many blocks, which every device can launch: the first that ran CUDA had 65535 side by
/// side, and AMD's count the threads of a line in 32 bits.
detail::launch_config grid_of(std::int64_t blocks) {
  constexpr std::int64_t most = 65535;
  if (blocks > most * most) {
    detail::fail(errc::unsupported, "the reduction needs too large a grid", std::to_string(blocks) + " blocks",
                 "reduce the rows in several calls");
  }
  return {detail::rectangle(blocks, most), {kernels::reduce_threads, 1, 1}, 0};
}

// Blocks share rows only where these are few: each needs a ticket.
constexpr std::int64_t most_shared_rows = detail::reduce_ticket_bytes / sizeof(std::uint32_t);

/// `element`, as often as it fits 16 bytes; of complex numbers, its real part, with an imaginary part of `imaginary`.
void repeat_element(std::uint32_t (&words)[4], std::uint64_t element, element_type type, std::uint64_t imaginary) {
  const std::size_t whole = element_bytes(type), part = type == element_type::c64    ? 4
                                                        : type == element_type::c128 ? 8
                                                                                     : whole;
  unsigned char bytes[16];
  for (std::size_t at = 0; at < 16; at += part) {
    std::memcpy(bytes + at, at % whole == 0 ? &element : &imaginary, part);
  }
  std::memcpy(words, bytes, 16);
}

}  // namespace

kernels::reduce_problem problem_of(const reduce_args& a, const reduce_meaning& meaning) {
  kernels::reduce_problem p{};
  const auto element = static_cast<std::int64_t>(element_bytes(a.in_type));
  p.in = static_cast<const unsigned char*>(a.in);
  p.rows = a.rows;
  p.bytes = a.cols * element;
  p.stride = a.ld * element;
  p.offsets = a.offsets;
  p.tasks = 1;
  p.width = kernels::reduce_lanes;
  p.deal = kernels::reduce_deal::tasks;
  const bool packed = a.rows == 1 || a.over == detail::reduce_over::segments || p.stride % 16 == 0;
  p.aligned = packed && reinterpret_cast<std::uintptr_t>(a.in) % 16 == 0;
  p.tickets = static_cast<std::uint32_t*>(a.scratch);
  p.partials = static_cast<unsigned char*>(a.scratch) + detail::reduce_ticket_bytes;
  const bool nothing = (a.over == detail::reduce_over::columns ? a.rows : a.cols) == 0;
  const std::uint64_t imaginary = a.op == reduce_op::sum && meaning.pad != meaning.empty ? meaning.pad : 0;
  repeat_element(p.empty, meaning.empty, a.in_type, 0);
  repeat_element(p.pad, meaning.pad, a.in_type, imaginary);
  if (nothing && a.over != detail::reduce_over::segments) std::memcpy(p.pad, p.empty, sizeof p.pad);
  p.terms = meaning.terms;
  p.terms.bytes = static_cast<int>(element);
  while ((1 << p.terms.shift) < p.terms.bytes) ++p.terms.shift;
  p.finish.out = a.out;
  p.finish.out_bytes = static_cast<int>(element_bytes(a.out_type));
  p.finish.end = meaning.end;
  p.finish.flip = meaning.terms.flip;
  p.finish.nan = meaning.nan;
  return p;
}

void clear_tickets(const detail::work_queue& queue, const reduce_args& args) {
  if (!args.cleared_scratch) queue.device->fill(queue.native, args.scratch, 0, detail::reduce_ticket_bytes);
}

namespace {

detail::launch_config plan_tasks(kernels::reduce_problem& p, const device_properties& device) {
  const std::int64_t chunks = ceil_div(p.bytes, chunk_bytes);
  // Enough blocks to fill the device three times over with one row; a block takes 16 chunks where that leaves enough.
  const std::int64_t enough = std::max<std::int64_t>(1, std::int64_t{3} * device.multiprocessors);
  const std::int64_t most = p.rows > most_shared_rows ? 1 : kernels::most_tasks;
  const auto tasks = [&] { return ceil_div(chunks, std::int64_t{1} << p.chunk_shift); };
  while (tasks() > most || p.rows * tasks() > 4 * kernels::most_tasks ||
         (p.chunk_shift < 4 && p.rows * ceil_div(chunks, std::int64_t{2} << p.chunk_shift) >= enough)) {
    if (tasks() == 1) break;
    ++p.chunk_shift;
  }
  p.tasks = static_cast<unsigned>(tasks());
  return grid_of(p.rows * tasks());
}

/// Rows of whole vectors, up to half a chunk.
detail::launch_config plan_whole_rows(kernels::reduce_problem& p) {
  const bool is_short = p.bytes <= kernels::short_row_bytes;
  const std::int64_t widest = is_short ? kernels::reduce_lanes : kernels::reduce_threads;
  const std::int64_t vectors = p.bytes / kernels::vector_bytes;
  std::int64_t threads = 1;  // that a row is wide
  while (threads < vectors && threads < widest) threads *= 2;
  while (threads << p.vectors_shift < vectors) ++p.vectors_shift;
  p.deal = is_short ? kernels::reduce_deal::vectors : kernels::reduce_deal::medium;
  if (is_short) p.width = static_cast<int>(threads);
  p.packed = p.bytes == p.stride && vectors == threads << p.vectors_shift;
  return grid_of(ceil_div(p.rows, std::int64_t{8} * kernels::reduce_threads / (threads << p.vectors_shift)));
}

}  // namespace

detail::launch_config plan_rows(kernels::reduce_problem& p, const reduce_args& args, const device_properties& device) {
  using kernels::reduce_deal;
  if (args.over == detail::reduce_over::segments) {
    p.deal = reduce_deal::segments;
    return grid_of(ceil_div(p.rows, kernels::reduce_parts));
  }
  const bool whole = p.aligned && p.bytes > 0 && p.bytes % kernels::vector_bytes == 0;
  if (whole && p.bytes <= chunk_bytes / 2) return plan_whole_rows(p);
  if (p.bytes > kernels::short_row_bytes) return plan_tasks(p, device);
  const std::int64_t vectors = ceil_div(p.bytes, kernels::vector_bytes);
  if (vectors > kernels::reduce_lanes) {
    p.deal = reduce_deal::warps;
    return grid_of(ceil_div(p.rows, kernels::reduce_parts));
  }
  p.deal = reduce_deal::lanes;
  p.width = 1;
  while (p.width < vectors) p.width *= 2;
  return grid_of(ceil_div(p.rows, std::int64_t{8} * kernels::reduce_threads / p.width));
}

detail::launch_config plan_columns(kernels::column_problem& p, int slots, bool exact, const device_properties& device) {
  // Values of integers have 8 or 16 bytes, and half as many partial results fit. In vectors, two blocks a
  // multiprocessor suffice, and the fewer chunks, the less there is to combine.
  constexpr std::int64_t most = detail::usual_column_chunks / 2;
  const std::int64_t few = std::clamp<std::int64_t>(std::int64_t{2} * device.multiprocessors, 1, most);
  const auto tree =
      !exact      ? detail::tree_of_columns_of(p.rows.rows, p.cols, p.rows.terms.bytes)
      : slots > 0 ? detail::tree_of_columns(p.rows.rows, ceil_div(p.cols, slots), kernels::reduce_threads / slots, few)
                  : detail::tree_of_columns(p.rows.rows, p.cols, 128, most);
  p.lanes = tree.lanes;
  p.batches = tree.batches;
  p.chunks = static_cast<unsigned>(tree.chunks);
  p.tiles = tree.tiles;
  return grid_of(tree.tiles * tree.chunks);
}

}  // namespace twill::TWILL_BACKEND
