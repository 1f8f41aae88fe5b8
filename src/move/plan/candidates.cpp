#include "candidates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "integers.hpp"
#include "normal_form.hpp"
#include "transposes.hpp"

namespace twill::detail {
namespace {

// Costs are `launch` microseconds and the time of a copy, times a factor of the shape. Factors are fitted to the
// timings that gather_costs names.

double ratio(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

// Bytes read around a segment whose ends are aligned to `alignment`, for each of its own.
double fetched_around(std::int64_t segment, std::int64_t alignment) {
  if (alignment >= 64) return ratio(ceil_divided(segment, 64) * 64 - segment, segment);
  return ratio(64 - alignment, segment);
}

double rows_factor(const permute_args& a, std::int64_t unit) {
  const std::int64_t alignment = a.run_bytes & -a.run_bytes;
  return 1.01 + 0.36 * fetched_around(a.run_bytes, alignment) + (unit < 4 ? 0.12 : 0) + (unit < 16 ? 0.22 : 0);
}

// Microseconds of a launch and a block. Those of 1 and 2 bytes live long.
double misaligned_launch(std::int64_t unit) {
  return unit == 1 ? 11.9 : unit == 2 ? 11 : unit == 4 ? 8.5 : 9.3;
}

// Instructions and memory overlap. Tiles that rows or columns do not fill cost as much as others.
double misaligned_factor(const tile_sides& s, std::int64_t unit) {
  const bool complete = s.in_bits % 4 == 0;
  const std::int64_t length = unit == 8 || (unit == 2 && complete) ? 512 : 256;
  const std::int64_t written = length - 32, width = (complete ? 32 : 31) * std::max<std::int64_t>(4, unit);
  const std::int64_t across = ceil_divided(s.col_bytes, width), down = ceil_divided(s.row_bytes, written);
  const double issued = unit == 1 ? 0.76 : unit == 2 ? 0.58 : unit == 4 ? 0.66 : 0.44, moved = 0.89;
  const double issue = issued * ratio(down * written, s.row_bytes) * ratio(across * width, s.col_bytes) *
                       (complete || unit > 2 ? 1 : 1.41);
  return std::max(1.03, std::sqrt(issue * issue + moved * moved));  // never ahead of full vectors
}

double tiled_factor(const tile_sides& s, std::int64_t unit, int rank) {
  return (unit == 1 ? 1.05 : 1.03) + ((s.in_bits & 63) != 0 ? 0.05 : 0) + ((s.out_bits & 63) != 0 ? 0.018 : 0) +
         (rank > 2 ? 0.036 : 0);
}

class collector {
 public:
  collector(candidates& all, double copy_us) : all_(all), copy_us_(copy_us) {}
  void add(family kind, double launch_us, double factor) { add(kind, launch_us + copy_us_ * factor); }
  void add(family kind, double microseconds) { all_.list[all_.count++] = {kind, microseconds}; }

 private:
  candidates& all_;
  double copy_us_;
};

}  // namespace

candidates candidates_of(const permute_args& a, const device_model& device, wanted which) {
  candidates all;
  std::int64_t bytes = a.run_bytes;
  for (int i = 0; i < a.rank; ++i) bytes *= a.dims[i].extent;
  collector found(all, 2 * static_cast<double>(bytes) / device.bytes_per_us);
  const std::int64_t unit = unit_of(a);
  all.untiled = untiled(a, unit);
  all.matrices = as_transpose(a);
  if (all.matrices) {
    const transpose_candidates transposes = plan_transposes(*all.matrices, device);
    for (int i = 0; i < transposes.count; ++i) {
      found.add(transposes.list[i].kind, transposes.list[i].launch, transposes.list[i].factor);
    }
  }
  if (a.run_bytes >= 64) found.add(family::rows, 7.24, rows_factor(a, unit));
  if (a.run_bytes == unit && unit <= 8) {
    composite_tile shared = all.untiled;
    const tile_sides s = share_out(shared);
    if (s.row_bytes >= 64 && s.col_bytes >= 48) {
      found.add(family::misaligned, misaligned_launch(unit), misaligned_factor(s, unit));
    }
    if (s.row_bytes >= 64 && s.col_bytes >= 64 && fast_dims_of(a, all.untiled).in >= 0) {
      found.add(family::tiled, 7.08, tiled_factor(s, unit, a.rank));
    }
  }
  const auto cheaper = [](const candidate& x, const candidate& y) { return x.microseconds < y.microseconds; };
  std::sort(all.list, all.list + all.count, cheaper);
  const bool is_limited = which == wanted::cheapest && all.count > 0;
  all.gather = plan_gather(a, all.untiled, device, is_limited ? all.list[0].microseconds : HUGE_VAL);
  if (all.gather) found.add(family::gather, all.gather->microseconds);
  found.add(family::elementwise, 6.4, 9.6);
  std::sort(all.list, all.list + all.count, cheaper);
  return all;
}

}  // namespace twill::detail
