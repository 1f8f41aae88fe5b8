// The scan: which kernel scans a problem, how the problem is cut, and which kinds scan it.

#include "gpu/limits.hpp"
#include "operations.hpp"
#include "plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::scan_args;

std::int64_t bytes_of_element(const scan_args& a) {
  return static_cast<std::int64_t>(element_bytes(a.type));
}

// Sums of less than 4 bytes are kept in 4; so are the keys of min and max.
int value_bytes(const scan_args& a) {
  return std::max(4, static_cast<int>(element_bytes(a.type)));
}

// Tiles and vectors start at aligned addresses of `in`: the maximum number of elements before a row. An upper bound
// without pointers.
std::int64_t max_lead(const scan_args& a) {
  const std::int64_t bytes = bytes_of_element(a);
  if (a.in == nullptr || (a.rows > 1 && a.in_ld * bytes % 16 != 0)) return 16 / bytes - 1;
  return address_of(a.in) % 16 / bytes;
}

std::int64_t vectors_of_row(const scan_args& a) {
  return ceil_div(a.cols + max_lead(a), 16 / bytes_of_element(a));
}

// Vectors per thread, except in small tiles.
int vectors_of(const scan_args& a) {
  return kernels::scan_vectors_for(static_cast<int>(bytes_of_element(a)), value_bytes(a), a.segments != 0);
}

constexpr std::int64_t most_small_bytes = 16 << 20;  // docs/decisions.md

// Whether short arrays of the kind have small tiles.
bool may_have_small_tiles(const scan_args& a) {
  return a.options.op == scan_op::sum && a.segments == 0 && vectors_of(a) > kernels::small_tile_vectors;
}

bool has_small_tiles(const scan_args& a) {
  return may_have_small_tiles(a) && a.rows * a.cols <= most_small_bytes / bytes_of_element(a);
}

std::int64_t tile_elements_of(const scan_args& a) {
  const int vectors = has_small_tiles(a) ? kernels::small_tile_vectors : vectors_of(a);
  return std::int64_t{kernels::scan_threads} * vectors * (16 / bytes_of_element(a));
}

int most_vectors(const scan_args& a) {
  return kernels::short_row_vectors_for(value_bytes(a));
}

// Of packed rows that begin inside of vectors, those that are scanned faster by a thread each (docs/decisions.md).
bool are_serial(const scan_args& a) {
  const std::int64_t bytes = bytes_of_element(a), row_bytes = a.cols * bytes;
  const std::int64_t most_bytes = std::max<std::int64_t>(384, 128 * bytes);
  return a.rows > 1 && a.in_ld == a.cols && a.out_ld == a.cols && row_bytes <= most_bytes && row_bytes % 16 != 0;
}

// The least shift by which `each` reaches `all`.
int shift_for(std::int64_t all, std::int64_t each) {
  int shift = 0;
  while (each << shift < all) ++shift;
  return shift;
}

}  // namespace

kernels::serial_rows lay_out_serial_rows(const scan_args& a, const device_limits& limits) {
  const std::int64_t row_bytes = a.cols * bytes_of_element(a);
  const std::int64_t most_bytes = std::min<std::int64_t>(16384, limits.shared_bytes / 2 - 32);
  const std::int64_t most = most_bytes / row_bytes, few = std::min<std::int64_t>(most, 32);
  // Fewer rows a block where these would leave too few blocks.
  const std::int64_t at_once = std::clamp<std::int64_t>(a.rows / (4 * limits.multiprocessors), few, most);
  kernels::serial_rows p{};
  p.in = a.in;
  p.out = a.out;
  p.rows = a.rows;
  p.cols = static_cast<int>(a.cols);
  p.at_once = static_cast<int>(at_once);
  p.region = static_cast<int>((at_once * row_bytes + 31) & -16);
  p.over_input = (address_of(a.in) - address_of(a.out)) % 16 == 0;
  p.exclusive = a.options.exclusive;
  return p;
}

kernels::short_rows lay_out_short_rows(const scan_args& a, const device_limits& limits) {
  const std::int64_t vectors = vectors_of_row(a), bytes = bytes_of_element(a);
  const int most = most_vectors(a);
  kernels::short_rows p{};
  p.in = a.in;
  p.out = a.out;
  p.rows = a.rows;
  p.cols = a.cols;
  p.in_ld = a.in_ld;
  p.out_ld = a.out_ld;
  p.exclusive = a.options.exclusive;
  if (a.in != a.out && a.in_ld == a.cols) p.readable_bytes = a.rows * a.cols * bytes;
  p.has_partial_vectors = max_lead(a) != 0 || a.cols * bytes % 16 != 0;
  // Lanes load a line of 128 bytes at once, if a row has one.
  const int shift = std::max(shift_for(vectors, most), std::min(3, shift_for(vectors, 1)));
  p.lanes_shift = std::min(5, shift);
  p.warps_shift = shift - p.lanes_shift;
  p.vectors = static_cast<int>(ceil_div(vectors, std::int64_t{1} << shift));
  // Several rows a thread, where that leaves enough blocks.
  const std::int64_t share = (a.rows << shift) / (std::int64_t{1024} * limits.multiprocessors);
  p.rows_each = p.warps_shift > 0 ? 1 : static_cast<int>(std::clamp<std::int64_t>(share, 1, most / p.vectors));
  return p;
}

scan_plan plan_scan(const scan_args& a) {
  scan_plan plan{};
  const bool is_short = vectors_of_row(a) <= std::int64_t{kernels::short_row_threads} * most_vectors(a);
  if (a.segments == 0 && is_short) {
    plan.by = are_serial(a) ? scan_kernel::serial_rows : scan_kernel::short_rows;
    return plan;
  }
  plan.by = scan_kernel::tiles;
  plan.in_small_tiles = has_small_tiles(a);
  plan.tiles_in_row = ceil_div(a.cols + max_lead(a), tile_elements_of(a));
  if (plan.tiles_in_row > (std::int64_t{1} << 31) / a.rows) {
    detail::fail(errc::unsupported, "the scan needs more than 2^31 tiles",
                 std::to_string(a.rows) + " rows of " + std::to_string(plan.tiles_in_row), "split it");
  }
  plan.tiles = a.rows * plan.tiles_in_row;
  plan.ticket_bytes = 16;
  plan.state_bytes = static_cast<std::size_t>(plan.tiles * kernels::state_words_for(value_bytes(a)) * 8);
  plan.head_bytes = a.segments != 0 ? static_cast<std::size_t>(plan.tiles * tile_elements_of(a) / 32 * 4) : 0;
  return plan;
}

void mark_heads(const detail::work_queue& queue, const scan_args& a, const scan_plan& plan) {
  constexpr int threads = 256;
  constexpr std::int64_t max_per_launch = std::int64_t{1} << 30;  // a grid ends at 2^32 threads
  auto* heads =
      reinterpret_cast<std::uint32_t*>(static_cast<unsigned char*>(a.scratch) + plan.ticket_bytes + plan.state_bytes);
  const auto lead = static_cast<int>(max_lead(a));
  for (std::int64_t first = 0; first < a.segments; first += max_per_launch) {
    const std::int64_t count = std::min(max_per_launch, a.segments - first);
    const detail::launch_config config{{static_cast<unsigned>(ceil_div(count, threads)), 1, 1}, {threads, 1, 1}, 0};
    check(launch(queue, config, &kernels::mark_heads<threads>, heads, lead, a.cols, a.offsets + first, count),
          "launch of scan, marking of segments");
  }
}

// Beyond small tiles no less than where they end: shorter arrays have more tiles, and scratch that is enough for an
// array shall be enough for its parts.
std::size_t scan_scratch(const scan_args& a) {
  const std::size_t bytes = plan_scan(a).bytes();
  if (!may_have_small_tiles(a) || has_small_tiles(a)) return bytes;
  scan_args shorter = a;
  shorter.cols = most_small_bytes / bytes_of_element(a) / a.rows;
  return shorter.cols == 0 ? bytes : std::max(bytes, plan_scan(shorter).bytes());
}

void scan(const detail::work_queue& queue, const scan_args& a) {
  const scan_plan plan = plan_scan(a);
  if (a.options.op != scan_op::sum) return scan_extremes(queue, a, plan);
  return a.segments != 0 ? scan_segment_sums(queue, a, plan) : scan_sums(queue, a, plan);
}

}  // namespace twill::TWILL_BACKEND
