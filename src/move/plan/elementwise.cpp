#include "elementwise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "candidates.hpp"
#include "integers.hpp"

namespace twill::detail {
namespace {

constexpr std::int64_t line = 128, sector = 32, vector_bytes = 16;  // bytes

struct block_reads {
  double sectors;   // bytes of the sectors read, per byte needed
  double lines;     // the same for lines
  double piece;     // bytes of a contiguous piece of the input that continues in another block
  double distance;  // bytes between these two blocks in the output; 0 where none continues it
};

// What a block of so many units reads.
block_reads reads_of_block(const composite_tile& t, std::int64_t units) {
  double left = static_cast<double>(units), indices[max_tile_dims], spans = 1;
  for (int i = 0; i < t.rank; ++i) {
    indices[i] = std::min(left, static_cast<double>(t.dims[i].extent));
    left /= indices[i];
  }
  auto span = static_cast<double>(t.unit);
  std::int64_t distances = sector;
  double piece = 0, distance = 0;
  for (int k = 0; k < t.rank; ++k) {
    const tile_dim& d = t.dims[t.in_order[k]];
    const std::int64_t stride = std::abs(d.in_stride);
    const double count = indices[t.in_order[k]];
    const bool joins = static_cast<double>(stride) <= std::max<double>(span, sector);
    if (piece == 0 && (!joins || count < static_cast<double>(d.extent))) {
      const bool shares_lines = static_cast<double>(stride) < span + line;
      piece = joins ? span + (count - 1) * static_cast<double>(stride) : span;
      if (shares_lines && count < static_cast<double>(d.extent)) {
        distance = static_cast<double>(std::abs(d.out_stride)) * count;
      }
    }
    if (joins) {
      span += (count - 1) * static_cast<double>(stride);
    } else {
      spans *= count;
      distances |= stride;
    }
  }
  const double around = static_cast<double>(sector - lowest_bit(distances));
  const double each = spans / static_cast<double>(units * t.unit), bytes = std::max<double>(sector, span + around);
  return {each * bytes, each * (bytes + (line - sector)), piece, distance};
}

// Bytes of all sectors that hold input, for each byte of it: gaps of less than a sector are read too.
double loaded(const composite_tile& t) {
  std::int64_t packed = t.unit;  // bytes of the dimensions without gaps, which are those of the smallest strides
  int k = 0;
  for (; k < t.rank && std::abs(t.dims[t.in_order[k]].in_stride) == packed; ++k) packed *= t.dims[t.in_order[k]].extent;
  auto span = static_cast<double>(packed), read = span, wanted = span;
  for (; k < t.rank; ++k) {
    const tile_dim& d = t.dims[t.in_order[k]];
    const auto stride = static_cast<double>(std::abs(d.in_stride)), count = static_cast<double>(d.extent);
    const double around = static_cast<double>(sector - lowest_bit(std::abs(d.in_stride) | sector));
    read =
        stride < span ? read * count : (count - 1) * std::min(stride, std::max<double>(sector, read + around)) + read;
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
  const std::int64_t lines = std::abs(d.out_stride) / t.unit, read = lines * std::min(line, d.extent * t.unit);
  return std::clamp(
      2 * static_cast<double>(read) / static_cast<double>(std::max<std::int64_t>(1, device.cache_bytes)) - 1, 0.0, 1.0);
}

// Instructions and what L2 delivers overlap.
double overlapped(double issue, double traffic) {
  const double issue2 = issue * issue, traffic2 = traffic * traffic;
  return std::sqrt(std::sqrt(issue2 * issue2 + traffic2 * traffic2));
}

// Footprint of a multiprocessor's resident blocks over the size of L1; `read`: bytes read per byte stored.
double l1_footprint(double read, std::int64_t block_bytes, const device_model& device) {
  constexpr double blocks = 8;
  return blocks * read * static_cast<double>(block_bytes) / static_cast<double>(device.l1_bytes);
}

// Extra memory traffic, in copies, half of which is reads: every block fetches full lines again that were evicted from
// L2.
double refetched(const composite_tile& t, const block_reads& reads, const device_model& device) {
  return lines_lost(t, device) * std::max(0.0, reads.lines - 1) / 2;
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
           std::min(1.0, static_cast<double>(std::abs(d.out_stride)) / full_distance);
  }
  return 0;
}

// Bytes read around a segment whose ends are aligned to `alignment`, for each of its own.
double fetched_around(std::int64_t segment, std::int64_t alignment) {
  const std::int64_t around = alignment >= 64 ? ceil_divided(segment, 64) * 64 - segment : 64 - alignment;
  return static_cast<double>(around) / static_cast<double>(segment);
}

// Lines of the input that a warp's load touches, one unit of each lane's vector. Strides of less than a line
// extend a span, and so do those that leave no gap; others count a span each.
double lines_of_load(const composite_tile& t, int run_dims, std::int64_t vector) {
  constexpr double lanes = 32, line_bytes = line;
  double left = lanes * static_cast<double>(vector), count[most_vector_dims] = {}, stride[most_vector_dims] = {};
  for (int i = 0; i < run_dims; ++i) {
    const std::int64_t extent = t.dims[i].extent;
    const double whole = std::clamp(left, 1.0, static_cast<double>(extent));
    // Adjacent lanes assemble adjacent vectors: of the first dimension they load one index in `step`.
    const std::int64_t step = i > 0                                 ? 1
                              : whole < static_cast<double>(extent) ? vector
                                                                    : std::min(vector, lowest_bit(extent));
    count[i] = std::min(lanes, whole / static_cast<double>(step));
    // Lanes are spread over all indices of a dimension. Not modelled for contiguous units: the constants, fitted
    // without it, cover that.
    const std::int64_t in_stride = std::abs(t.dims[i].in_stride);
    stride[i] = static_cast<double>(in_stride) * (in_stride == t.unit ? static_cast<double>(step) : whole / count[i]);
    left /= whole;
  }
  double span = static_cast<double>(t.unit), spans = 1;
  for (int k = 0; k < t.rank; ++k) {
    const int i = t.in_order[k];
    if (i >= run_dims || count[i] <= 1) continue;
    if (stride[i] < line_bytes || stride[i] <= span) {
      span += (count[i] - 1) * stride[i];
    } else {
      spans *= count[i];
    }
  }
  return std::min(lanes, spans * std::max(1.0, span / line_bytes));
}

// Extra cost, in copies, of pieces of the input that continue in another block: the larger the distance between the two
// in the output, the less likely (presumably) shared lines are still in L2, and shared DRAM pages open. Rises with the
// logarithm of the distance, from `near` bytes over `decades`; a piece of `half_piece` bytes costs half as much as the
// shortest.
double split_pieces(const block_reads& reads) {
  constexpr double most = 0.2, half_piece = 500, near = 1e5, decades = 2;  // chosen, not fitted (docs/planner.md)
  if (reads.distance <= near) return 0;
  return most * std::min(1.0, std::log10(reads.distance / near) / decades) / (1 + reads.piece / half_piece);
}

// Whether elementwise moves single units, whose loads are not coalesced. Runs of small units are costed likewise.
bool is_scattered(const permute_args& a, std::int64_t unit) {
  return unit < 4 || (a.run_bytes == unit && unit < 16);
}

cost_of_launch cost_of_elementwise(const permute_args& a, const composite_tile& t, const device_model& device) {
  constexpr double division = 0.12;  // us; to divide an index by one more extent
  constexpr double gaps = 0.15;      // of tiny matrices; larger ones take no longer for them
  cost_of_launch cost = least_of_elementwise(a, t.unit);
  cost.launch += division * std::max(0, t.rank - 2);
  if (is_scattered(a, t.unit)) {  // fitted to 2,400 timings (docs/planner.md)
    constexpr double stored = 0.42, delivered = 0.32;
    const block_reads reads = reads_of_block(t, elementwise_block_units);
    // Sectors evicted from L1 are reread from L2: all of them from twice its size on.
    const double again =
        std::clamp(l1_footprint(reads.sectors, elementwise_block_units * t.unit, device) - 1, 0.0, 1.0);
    const double of_warps = again > 0 ? reads_of_block(t, 32).sectors : 0;
    const double sectors = std::max(reads.sectors, (1 - again) * reads.sectors + again * of_warps);
    cost.factor = overlapped(cost.factor, stored + delivered * sectors);
    cost.memory = 1 + gaps * (loaded(t) - 1) + refetched(t, reads, device);
    return cost;
  }
  cost.factor += 0.156 * fetched_around(a.run_bytes, lowest_bit(a.run_bytes)) + split_lines(a, t.unit);
  return cost;
}

// Issue (a load is replayed for each line of 128 bytes that it touches) overlaps with L2 traffic. Sectors are read from
// L2 once, unless their lines are evicted from L1 before reuse: none up to a footprint of 0.3 of L1, all from 2.5 on,
// linear in between. Gaps in the input are read from memory. Fitted to 2,451 timings on H200s, but for launches, gaps
// and split_pieces (docs/planner.md).
cost_of_launch cost_of_elementwise_vectors(const composite_tile& t, const cost_of_launch& least,
                                           const device_model& device) {
  constexpr double once = 0.95, again = 0.41, evicts_from = 0.3, evicts_all = 2.5;
  const block_reads reads = reads_of_block(t, elementwise_block_units * (vector_bytes / t.unit));
  const double footprint = l1_footprint(reads.lines, elementwise_block_units * vector_bytes, device);
  const double evicted = std::clamp((footprint - evicts_from) / (evicts_all - evicts_from), 0.0, 1.0);
  const std::int64_t sector_units = sector / t.unit;
  const double reread = evicted * static_cast<double>(sector_units - 1);  // times that a sector comes from L2 again
  return {least.launch, overlapped(least.factor, once + again * reread),
          1 + (loaded(t) - 1) / 2 + refetched(t, reads, device) + split_pieces(reads)};
}

}  // namespace

cost_of_launch least_of_elementwise(const permute_args& a, std::int64_t unit) {
  // Launch in us; issue, in copies, of single units and of runs of units of 1, 2, 4, 8 and 16 bytes.
  constexpr double launch = 1.9, launch_of_units = 1.75;
  constexpr double units[5] = {10, 4.65, 2.53, 1.42, 0}, runs[5] = {0, 0, 2.2, 1.35, 1.05};
  const int at = place_of(unit);
  return is_scattered(a, unit) ? cost_of_launch{launch_of_units, units[at]} : cost_of_launch{launch, runs[at]};
}

output_run output_run_of(const composite_tile& t) {
  constexpr std::int64_t most_units = 1 << 30;
  output_run run{0, 1};
  while (run.dims < std::min(t.rank, most_vector_dims)) {
    const tile_dim& d = t.dims[run.dims];
    if (d.out_stride != run.units * t.unit || d.extent > most_units / run.units) break;
    run.units *= d.extent;
    ++run.dims;
  }
  return run;
}

cost_of_launch least_of_elementwise_vectors(const composite_tile& t) {
  constexpr double launch[4] = {2.17, 1.97, 1.83, 1.77}, division = 0.17;                         // us
  constexpr double issued[4] = {1.2, 0.93, 0.73, 0.74}, scattered[4] = {1.79, 0.79, 0.81, 0.52};  // at 32 lines a load
  const int at = place_of(t.unit);
  const double lines = lines_of_load(t, output_run_of(t).dims, vector_bytes / t.unit);
  return {launch[at] + division * std::max(0, t.rank - 3), issued[at] + scattered[at] * lines / 32};
}

// Launches skip those that cannot be cheaper than the candidates so far.
void add_elementwise(candidates& to, const permute_args& a, const device_model& device, wanted which) {
  constexpr std::int64_t least_run_bytes = 64;
  const composite_tile& t = to.units;
  const auto may_pay = [&](family kind, const cost_of_launch& least) {
    return which == wanted::all || to.corrected_us(kind, least) < to.cheapest_us();
  };
  if (t.unit <= 8 && output_run_of(t).units * t.unit >= least_run_bytes) {
    const cost_of_launch least = least_of_elementwise_vectors(t);
    if (may_pay(family::elementwise_vectors, least)) {
      to.add(family::elementwise_vectors, cost_of_elementwise_vectors(t, least, device));
    }
  }
  if (may_pay(family::elementwise, least_of_elementwise(a, t.unit))) {
    to.add(family::elementwise, cost_of_elementwise(a, t, device));
  }
}

}  // namespace twill::detail
