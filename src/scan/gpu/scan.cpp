// The scan: how a problem is cut into tiles, and which kinds scan it.

#include "gpu/limits.hpp"
#include "operations.hpp"
#include "plan.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::scan_args;

// Sums of less than 4 bytes are kept in 4; so are the keys of min and max.
int value_bytes(const scan_args& a) {
  return std::max(4, static_cast<int>(element_bytes(a.type)));
}

// Tiles start at aligned addresses of `in`: the maximum number of elements before a row. An upper bound without
// pointers.
std::int64_t max_lead(const scan_args& a, std::int64_t rows) {
  const auto bytes = static_cast<std::int64_t>(element_bytes(a.type));
  if (a.in == nullptr || (rows > 1 && a.in_ld * bytes % 16 != 0)) return 16 / bytes - 1;
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) % 16) / bytes;
}

std::int64_t tile_elements_of(const scan_args& a, bool segments) {
  const auto bytes = static_cast<int>(element_bytes(a.type));
  return kernels::scan_threads * kernels::scan_vectors_for(bytes, value_bytes(a), segments) * (16 / bytes);
}

// Whether packed rows shorter than a tile are scanned as segments of one long row: where they would leave too much of a
// tile empty. What is too much depends on `in`, not on `out`, as the order of additions does. Without pointers, rows
// that could be joined are: then more scratch is needed.
bool are_joined(const scan_args& a) {
  const std::int64_t tile = tile_elements_of(a, false), bytes = static_cast<std::int64_t>(element_bytes(a.type));
  if (a.rows == 1 || a.in_ld != a.cols || a.out_ld != a.cols || a.cols >= tile) return false;
  const bool aligned = a.in != nullptr && (reinterpret_cast<std::uintptr_t>(a.in) | a.cols * bytes) % 16 == 0;
  return aligned || bytes == 1 ? 2 * a.cols < tile : 5 * a.cols < 4 * tile;
}

}  // namespace

scan_plan plan_scan(const scan_args& a) {
  const bool joined = are_joined(a);
  scan_plan plan{};
  plan.segments = joined || a.segments != 0;
  plan.rows = joined ? 1 : a.rows;
  plan.cols = joined ? a.rows * a.cols : a.cols;
  plan.tiles_in_row = ceil_div(plan.cols + max_lead(a, plan.rows), tile_elements_of(a, plan.segments));
  if (plan.tiles_in_row > (std::int64_t{1} << 31) / plan.rows) {
    detail::fail(errc::unsupported, "the scan needs more than 2^31 tiles",
                 std::to_string(plan.rows) + " rows of " + std::to_string(plan.tiles_in_row), "split it");
  }
  plan.tiles = plan.rows * plan.tiles_in_row;
  plan.ticket_bytes = 16;
  plan.state_bytes = static_cast<std::size_t>(plan.tiles * (value_bytes(a) / 4) * 8);
  plan.head_bytes = plan.segments ? static_cast<std::size_t>(plan.tiles * tile_elements_of(a, true) / 32 * 4) : 0;
  return plan;
}

void mark_heads(const detail::work_queue& queue, const scan_args& a, const scan_plan& plan) {
  constexpr int threads = 256;
  constexpr std::int64_t max_per_launch = std::int64_t{1} << 30;  // a grid ends at 2^32 threads
  const std::int64_t step = a.offsets != nullptr ? 0 : a.cols;
  auto* heads =
      reinterpret_cast<std::uint32_t*>(static_cast<unsigned char*>(a.scratch) + plan.ticket_bytes + plan.state_bytes);
  const auto element = element_bytes(a.type);
  const int lead = static_cast<int>(reinterpret_cast<std::uintptr_t>(a.in) % 16 / element);
  const std::int64_t segments = a.offsets != nullptr ? a.segments : a.rows;
  for (std::int64_t first = 0; first < segments; first += max_per_launch) {
    const std::int64_t count = std::min(max_per_launch, segments - first);
    const detail::launch_config config{{static_cast<unsigned>(ceil_div(count, threads)), 1, 1}, {threads, 1, 1}, 0};
    const auto* offsets = a.offsets != nullptr ? a.offsets + first : nullptr;
    check(launch(queue, config, &kernels::mark_heads<threads>, heads, lead, plan.cols, offsets, first * step, step,
                 count),
          "launch of scan, marking of segments");
  }
}

std::size_t scan_scratch(const scan_args& a) {
  return plan_scan(a).bytes();
}

void scan(const detail::work_queue& queue, const scan_args& a) {
  const scan_plan plan = plan_scan(a);
  if (a.options.op != scan_op::sum) return scan_extremes(queue, a, plan);
  return plan.segments ? scan_segment_sums(queue, a, plan) : scan_sums(queue, a, plan);
}

}  // namespace twill::TWILL_BACKEND
