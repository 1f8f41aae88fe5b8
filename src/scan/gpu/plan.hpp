#pragma once

// What the sources of the scan share: the plan of a launch, and the launch for one kind.

#include <algorithm>
#include <cstdint>
#include <string>

#include "scan.hpp"
#include "serial_rows.hpp"
#include "short_rows.hpp"

#include "backends/backend.hpp"
#include "backends/error.hpp"
#include "gpu/cleared_scratch.hpp"
#include "gpu/limits.hpp"
#include "launch.hpp"
#include "scan/operations.hpp"

namespace twill::TWILL_BACKEND {

enum class scan_kernel { serial_rows, short_rows, tiles };

/// Which kernel scans, into how many tiles the problem is cut, and what their scratch holds: the ticket, the states of
/// the tiles, the bits of heads.
struct scan_plan {
  scan_kernel by;
  bool in_small_tiles;
  std::int64_t tiles, tiles_in_row;
  std::size_t ticket_bytes, state_bytes, head_bytes;
  std::size_t bytes() const { return ticket_bytes + state_bytes + head_bytes; }
};

scan_plan plan_scan(const detail::scan_args& args);

/// How threads share the rows of the kernels without tiles.
kernels::serial_rows lay_out_serial_rows(const detail::scan_args& args, const device_limits& limits);
kernels::short_rows lay_out_short_rows(const detail::scan_args& args, const device_limits& limits);

// Each starts the scan of one family of kinds.
void scan_sums(const detail::work_queue& queue, const detail::scan_args& args, const scan_plan& plan);
void scan_segment_sums(const detail::work_queue& queue, const detail::scan_args& args, const scan_plan& plan);
void scan_extremes(const detail::work_queue& queue, const detail::scan_args& args, const scan_plan& plan);

template <class Kind>
kernels::scan_problem problem_of(const detail::scan_args& a, const scan_plan& plan) {
  auto* scratch = static_cast<unsigned char*>(a.scratch);
  kernels::scan_problem p{};
  p.in = a.in;
  p.out = a.out;
  p.cols = a.cols;
  p.in_ld = a.in_ld;
  p.out_ld = a.out_ld;
  p.tiles = static_cast<std::uint32_t>(plan.tiles);
  p.tiles_in_row = static_cast<std::uint32_t>(plan.tiles_in_row);
  p.ticket = reinterpret_cast<std::uint32_t*>(scratch);
  p.states = reinterpret_cast<std::uint64_t*>(scratch + plan.ticket_bytes);
  p.heads = reinterpret_cast<std::uint32_t*>(scratch + plan.ticket_bytes + plan.state_bytes);
  p.tag = kernels::tag_in_cleared_words;
  p.exclusive = a.options.exclusive;
  return p;
}

/// Marks the heads of segments in cleared scratch.
void mark_heads(const detail::work_queue& queue, const detail::scan_args& args, const scan_plan& plan);

/// Whether every row begins at a multiple of 16 bytes in both arrays.
template <class Kind>
bool rows_are_aligned(const kernels::scan_problem& p) {
  constexpr std::uintptr_t count = kernels::vector_elements<Kind>;
  const auto places = reinterpret_cast<std::uintptr_t>(p.in) | reinterpret_cast<std::uintptr_t>(p.out);
  const auto steps = static_cast<std::uintptr_t>(p.in_ld) | static_cast<std::uintptr_t>(p.out_ld);
  return places % 16 == 0 && (p.tiles == p.tiles_in_row || steps % count == 0);
}

template <class Kind>
void launch_serial_rows(const detail::work_queue& queue, const detail::scan_args& a, const Kind& kind) {
  const kernels::serial_rows p = lay_out_serial_rows(a, limits_of(queue));
  const std::int64_t shared = p.over_input ? p.region : 2 * std::int64_t{p.region};
  const auto config = grid_of(ceil_div(a.rows, p.at_once), kernels::serial_row_threads, shared);
  check(launch_dependent(queue, config, &kernels::scan_serial_rows<Kind>, kind, p), "launch of scan");
}

template <class Kind>
void launch_short_rows(const detail::work_queue& queue, const detail::scan_args& a, const Kind& kind) {
  const kernels::short_rows p = lay_out_short_rows(a, limits_of(queue));
  const int shift = p.lanes_shift + p.warps_shift, threads = std::max(256, 1 << shift);
  const auto config = grid_of(ceil_div(a.rows, std::int64_t{threads >> shift} * p.rows_each), threads, 0);
  constexpr std::int64_t bytes = sizeof(typename Kind::element);
  auto* kernel = &kernels::scan_short_rows<Kind, false>;
  if constexpr (bytes < 16) {  // others are aligned
    const bool realigned = ((address_of(a.in) - address_of(a.out)) | (a.in_ld - a.out_ld) * bytes) % 16 != 0;
    if (realigned) kernel = &kernels::scan_short_rows<Kind, true>;
  }
  check(launch_dependent(queue, config, kernel, kind, p), "launch of scan");
}

template <class Kind>
inline constexpr std::size_t scan_tile_bytes = sizeof(word16) * kernels::tile_vectors<Kind>;
inline constexpr std::size_t scan_own_bytes = 2048;  // more than the other shared memory of kernels of tiles

/// Tiles that scan_one_tile scans: those whose blocks run at once, which registers and shared memory limit.
template <class Kind>
std::int64_t most_tiles_by_index(const device_properties& device) {
  constexpr std::size_t reserved = 1024;  // shared memory of each block that the hardware keeps
  const std::size_t fit =
      (device.shared_bytes_per_block + reserved) / (scan_tile_bytes<Kind> + scan_own_bytes + reserved);
  return std::min<std::int64_t>(kernels::one_tile_blocks, static_cast<std::int64_t>(fit)) *
         std::max(1, device.multiprocessors);
}

// scan_one_tile uses only the states of the scratch. Replays of a graph share one tag, so captured launches clear.
template <class Pace, class Kind>
void launch_tile_a_block(const detail::work_queue& queue, const detail::scan_args& a, const scan_plan& plan,
                         const Kind& kind, kernels::scan_problem problem) {
  const detail::launch_config config{
      {static_cast<unsigned>(plan.tiles), 1, 1}, {kernels::scan_threads, 1, 1}, scan_tile_bytes<Kind>};
  auto* kernel = rows_are_aligned<Kind>(problem) ? &kernels::scan_one_tile<Kind, kernels::aligned_rows<Kind>, Pace>
                                                 : &kernels::scan_one_tile<Kind, kernels::misaligned_rows<Kind>, Pace>;
  if (may_be_replayed(queue)) {
    return launch_with_cleared_scratch(queue, config, a.scratch, plan.bytes(), "launch of scan", kernel, kind, problem);
  }
  problem.tag = queue.device->tags.next();
  check(launch_dependent(queue, config, kernel, kind, problem), "launch of scan");
}

/// Tests inject another Pace. Throws: unsupported where a tile exceeds a block's shared memory.
template <class Pace = kernels::steady_pace, class Kind>
void launch_tiles(const detail::work_queue& queue, const detail::scan_args& a, const scan_plan& plan,
                  const Kind& kind) {
  const auto& device = queue.device->properties();
  if (device.shared_bytes_per_block < scan_tile_bytes<Kind> + scan_own_bytes) {
    detail::fail(errc::unsupported, "scan cannot run on " + device.name,
                 "a block has " + std::to_string(device.shared_bytes_per_block) + " bytes of shared memory, a tile " +
                     std::to_string(scan_tile_bytes<Kind>),
                 "scan on another device");
  }
  auto problem = problem_of<Kind>(a, plan);
  if constexpr (Pace::by_index && kernels::may_take_tiles_by_index<Kind>) {
    if (a.in != a.out && !a.options.two_passes && plan.tiles <= most_tiles_by_index<Kind>(device))
      return launch_tile_a_block<Pace>(queue, a, plan, kind, problem);
  }
  // Two staged tiles pay off for large values, where two such blocks still fit a multiprocessor.
  problem.two_staged =
      kernels::may_stage_two<Kind> && device.shared_bytes_per_block >= 2 * (2 * scan_tile_bytes<Kind> + scan_own_bytes);
  const std::size_t shared = (problem.two_staged ? 2 : 1) * scan_tile_bytes<Kind>;
  const auto blocks = std::min<std::int64_t>(plan.tiles, 2 * std::max(1, device.multiprocessors));
  const detail::launch_config config{{static_cast<unsigned>(blocks), 1, 1}, {kernels::scan_threads, 1, 1}, shared};

  auto* kernel = rows_are_aligned<Kind>(problem) ? &kernels::scan_tiles<Kind, kernels::aligned_rows<Kind>, Pace>
                                                 : &kernels::scan_tiles<Kind, kernels::misaligned_rows<Kind>, Pace>;
  if (a.segments == 0 && !a.options.two_passes) {
    return launch_with_cleared_scratch(queue, config, a.scratch, plan.bytes(), "launch of scan", kernel, kind, problem);
  }
  queue.device->fill(queue.native, a.scratch, 0, plan.bytes());
  if (a.segments != 0) mark_heads(queue, a, plan);
  if (a.options.two_passes) {
    problem.sums_only = true;
    check(launch(queue, config, kernel, kind, problem), "launch of scan, first pass");
    queue.device->fill(queue.native, problem.ticket, 0, plan.ticket_bytes);
    problem.sums_only = false;
  }
  check(launch(queue, config, kernel, kind, problem), "launch of scan");
}

/// Launches the scan of a kind.
template <class Kind>
void launch_scan(const detail::work_queue& queue, const detail::scan_args& a, const scan_plan& plan, const Kind& kind) {
  if constexpr (!kernels::has_segments<Kind>) {
    if (plan.by == scan_kernel::short_rows) return launch_short_rows(queue, a, kind);
    if constexpr (sizeof(typename Kind::element) < 16) {  // others are full vectors
      if (plan.by == scan_kernel::serial_rows) return launch_serial_rows(queue, a, kind);
    }
  }
  launch_tiles(queue, a, plan, kind);
}

}  // namespace twill::TWILL_BACKEND
