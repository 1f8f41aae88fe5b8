#include "elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "integers.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t line = 128, sector = 32;  // bytes

// Bytes of the sectors that a block reads, for each byte that it needs. What is contiguous in the input, or nearly so,
// makes one span.
double sectors_read(const composite_tile& t) {
  double left = elementwise_block_units, indices[max_tile_dims], spans = 1;
  for (int i = 0; i < t.rank; ++i) {
    indices[i] = std::min(left, static_cast<double>(t.dims[i].extent));
    left /= indices[i];
  }
  auto span = static_cast<double>(t.unit);
  std::int64_t distances = sector;
  for (int k = 0; k < t.rank; ++k) {
    const std::int64_t stride = std::abs(t.dims[t.in_order[k]].in_stride);
    const double count = indices[t.in_order[k]];
    if (static_cast<double>(stride) <= std::max<double>(span, sector)) {
      span += (count - 1) * static_cast<double>(stride);
    } else {
      spans *= count;
      distances |= stride;
    }
  }
  const double around = static_cast<double>(sector - lowest_bit(distances));
  return spans * std::max<double>(sector, span + around) / static_cast<double>(elementwise_block_units * t.unit);
}

// Bytes of all sectors that hold input, for each byte of it: gaps of less than a sector are read too.
double loaded(const composite_tile& t) {
  auto span = static_cast<double>(t.unit), read = span, wanted = span;
  for (int k = 0; k < t.rank; ++k) {
    const tile_dim& d = t.dims[t.in_order[k]];
    const auto stride = static_cast<double>(std::abs(d.in_stride)), count = static_cast<double>(d.extent);
    const double around = static_cast<double>(sector - lowest_bit(std::abs(d.in_stride) | sector));
    read = stride < span ? read * count : (count - 1) * std::min(stride, read + around) + read;
    span += (count - 1) * stride;
    wanted *= count;
  }
  return std::max(1.0, read / wanted);
}

// The share of input lines that leave the cache before they are reused: all where there is none, or a
// device does not say.
double lines_lost(const composite_tile& t, const device_model& device) {
  const tile_dim& d = t.dims[t.in_order[0]];
  if (std::abs(d.in_stride) != t.unit || d.out_stride == t.unit) return 0;
  const std::int64_t lines = d.out_stride / t.unit, read = lines * std::min(line, d.extent * t.unit);
  return std::clamp(
      2 * static_cast<double>(read) / static_cast<double>(std::max<std::int64_t>(1, device.cache_bytes)) - 1, 0.0, 1.0);
}

// Single units: instructions and what L2 delivers overlap. Fitted to 2,400 timings on an H200 and an H100
// (docs/planner.md).
double units_factor(const composite_tile& t, const device_model& device) {
  constexpr double issued[4] = {10, 5, 2.53, 1.42};  // of units of 1, 2, 4 and 8 bytes
  constexpr double stored = 0.42, delivered = 0.4, refetched = 2.2;
  const double issue = issued[place_of(t.unit)], traffic = stored + delivered * sectors_read(t);
  const double both = std::sqrt(std::sqrt(issue * issue * issue * issue + traffic * traffic * traffic * traffic));
  return both * (1 + refetched * lines_lost(t, device));
}

// Whether a block uses every unit of each input line that it touches.
bool consumes_full_input_lines(const composite_tile& t) {
  if (std::abs(t.dims[t.in_order[0]].in_stride) != t.unit) return false;
  for (int i = 0; i < t.rank; ++i) {
    const tile_dim& d = t.dims[t.in_order[i]];
    const std::int64_t stride = std::abs(d.in_stride);
    if (stride >= line) break;
    const std::int64_t in_line = std::min(d.extent, ceil_divided(line, stride));
    if (in_line * d.out_stride > elementwise_block_units * t.unit) return false;
  }
  return true;
}

// Extra cost of runs that end inside an input line, in copies: the rest of the line belongs to the next run of the
// input, and the larger the distance between the two in the output, the less likely the line is still in L2. Constant
// from `full_distance` on. Measured with units of 16 bytes; the factors of smaller units include it.
double split_lines(const permute_args& a, std::int64_t unit) {
  constexpr double copied_bytes = 16, full_distance = 2e6;  // copies times bytes of a run; bytes
  if (unit < 16 || a.run_bytes % 128 == 0) return 0;
  for (int i = 0; i < a.rank; ++i) {
    const permute_dim& d = a.dims[i];
    if (std::abs(d.in_stride) != a.run_bytes) continue;
    return copied_bytes / static_cast<double>(std::max<std::int64_t>(64, a.run_bytes)) *
           std::min(1.0, static_cast<double>(d.out_stride) / full_distance);
  }
  return 0;
}

// Bytes read around a segment whose ends are aligned to `alignment`, for each of its own.
double fetched_around(std::int64_t segment, std::int64_t alignment) {
  const std::int64_t around = alignment >= 64 ? ceil_divided(segment, 64) * 64 - segment : 64 - alignment;
  return static_cast<double>(around) / static_cast<double>(segment);
}

}  // namespace

cost_of_launch cost_of_elementwise(const permute_args& a, const composite_tile& t, const device_model& device) {
  constexpr double lines[5] = {0, 0, 2.2, 1.4, 1.12}, runs[5] = {0, 0, 2.2, 1.35, 1.05};
  constexpr double launch = 1.9, launch_of_units = 1.75;
  constexpr double gaps = 0.15;  // of tiny matrices; larger ones take no longer for them
  const int at = place_of(t.unit);
  if (t.unit < 4 || (a.run_bytes == t.unit && t.unit < 16)) {
    return {launch_of_units, units_factor(t, device), 1 + gaps * (loaded(t) - 1)};
  }
  if (a.run_bytes < 64 && consumes_full_input_lines(t)) return {launch, lines[at]};
  return {launch, runs[at] + 0.156 * fetched_around(a.run_bytes, lowest_bit(a.run_bytes)) + split_lines(a, t.unit)};
}

}  // namespace twill::detail
