#include "candidates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "integers.hpp"
#include "transposes.hpp"

namespace twill::detail {
namespace {

struct description {
  const char *name, *takes;
};

constexpr description descriptions[families] = {
    {"narrow", "2 to 8 packed columns, or rows that become packed columns, long rows aligned at 16 bytes"},
    {"tiled-2d", "matrices whose rows are full aligned vectors of 16 bytes on both sides"},
    {"tiled-4byte",
     "matrices of 1, 2 and 4 byte elements whose rows are full aligned vectors, up to 16, 64 or 512 KiB a "
     "multiprocessor"},
    {"misaligned-2d", "matrices of 1, 2, 4 and 8 byte elements with rows of any alignment"},
    {"staged", "batches of small packed matrices of 1-byte elements, input and output 16-byte aligned"},
    {"staged-misaligned",
     "batches of packed matrices of up to a third of a block's shared memory, half of it for 1-byte elements"},
    {"staged-strided", "batches of small matrices with gaps"},
    {"staged-rows",
     "packed rows of 16 to 64 bytes in full vectors; 9 to 256 packed columns (from 2 of 1 byte, 4 of 2)"},
    {"staged-cols", "rows that become packed columns, from 9 on and as many as fit in shared memory"},
    {"vec3", "matrices of elements of 3, 5 to 7, 9 to 15, 20 and 24 bytes"},
    {"misaligned",
     "rows and columns of several dimensions, rows of at least 100 bytes, columns of at least 60 (28 for 1-byte "
     "elements)"},
    {"rows", "contiguous runs of 64 bytes and more that are not all aligned vectors of 16 bytes"},
    {"gather", "anything with a composite tile that fits in shared memory"},
    {"elementwise-vectors", "units of up to 8 bytes, contiguous runs of the output from 64 bytes to 2^30 units"},
    {"elementwise", "anything"}};

// Costs are `launch` microseconds and the time of a copy, times a factor of the shape. Factors are fitted to the
// timings that gather_costs names.

// Vectors that span two rows cost instructions, and shorter rows have more of them.
cost_of_launch cost_of_rows(const permute_args& a, std::int64_t unit) {
  constexpr double launch[4] = {3.52, 3.56, 3.47, 3.26}, factor[4] = {1.063, 1.077, 1.081, 1.055},
                   more[4] = {0.651, 0.661, 0.614, 0.546},
                   half[4] = {420, 323, 327, 261};  // bytes of a row that costs half of `more`
  const int at = place_of(unit);
  return {launch[at], factor[at] + more[at] / (1 + static_cast<double>(a.run_bytes) / half[at])};
}

// Composite tiles are not expected ahead of full vectors of matrices.
double least_of_gather(const candidates& all) {
  const bool is_full = std::any_of(all.list, all.list + all.count, [](auto& c) { return c.kind == family::tiled_2d; });
  return is_full ? all.corrected_us(family::tiled_2d, least_of_tiles(all.units.unit)) : 0;
}

// Launches search below the cheapest other candidate only. Where that finds no tile, a full search lists gather, at no
// less than the others: both must choose alike.
void add_gather(candidates& all, const permute_args& a, const device_model& device, wanted which) {
  const double correction = all.properties.correction(family::gather);
  double least = least_of_gather(all);
  plan_gather(a, all.units, device, all.bytes, all.cheapest_us() / correction, all.gather);
  if (!all.gather && which == wanted::all) {
    plan_gather(a, all.units, device, all.bytes, HUGE_VAL, all.gather);
    least = std::max(least, std::nextafter(all.cheapest_us(), HUGE_VAL));
  }
  if (all.gather) all.add(family::gather, std::max(least, all.gather->microseconds * correction));
}

// Each dimension's place is how many come before it: all pairs are compared, without branches. To sort so few elements
// costs little but mispredicted branches.
void sort_by_in_stride(composite_tile& t) {
  int place[max_tile_dims] = {};
  for (int i = 1; i < t.rank; ++i) {
    for (int k = 0; k < i; ++k) {
      const int is_first = std::abs(t.dims[k].in_stride) <= std::abs(t.dims[i].in_stride) ? 1 : 0;
      place[i] += is_first;
      place[k] += 1 - is_first;
    }
  }
  for (int i = 0; i < t.rank; ++i) t.in_order[place[i]] = i;
}

// Programmatic dependent launch: NVIDIA GPUs from sm_90 on, by CUDA.
bool launches_overlap(const device_properties& device) {
  const std::string_view name = device.architecture;
  const bool is_two_digits = name.size() == 5;  // other names, sm_90a and sm_100, are of 9.0 and later
  return name.substr(0, 3) == "sm_" && (!is_two_digits || name[3] >= '9') && device.backend != std::string_view("hip");
}

}  // namespace

const char* name_of(family kind) {
  return descriptions[static_cast<int>(kind)].name;
}

const char* takes(family kind) {
  return descriptions[static_cast<int>(kind)].takes;
}

device_model model_of(const device_properties& device) {
  constexpr double copied = 0.875;  // of the peak, by kernels that copy (H200: 4.2 of 4.8 TB/s)
  constexpr double clock = 1755;    // MHz: what drivers give is not what devices run at
  constexpr double plain = 500e9;   // bytes per second of a device that does not say
  // L1 and shared memory are one where a block may have more than 64 KiB (NVIDIA GPUs from sm_70 on); else L1 is small.
  constexpr std::int64_t separate = 64 << 10, small_l1 = 16 << 10;
  const auto shared = static_cast<std::int64_t>(device.shared_bytes_per_block);
  const double peak = device.peak_bytes_per_second > 0 ? device.peak_bytes_per_second : plain;
  const int multiprocessors = std::max(1, device.multiprocessors);
  return {shared,
          multiprocessors,
          copied * peak / 1e6,
          clock * multiprocessors,
          static_cast<std::int64_t>(device.cache_bytes),
          shared > separate ? shared : small_l1,
          launches_overlap(device)};
}

std::int64_t unit_of(const permute_args& a) {
  std::int64_t bits = address_of(a.in) | address_of(a.out) | a.run_bytes | 16;
  for (int i = 0; i < a.rank; ++i) bits |= a.dims[i].in_stride | a.dims[i].out_stride;
  return lowest_bit(bits);
}

void set_untiled(composite_tile& t, const permute_args& a, std::int64_t unit) {
  t.unit = unit;
  t.rank = 0;
  if (a.run_bytes > unit) t.dims[t.rank++] = {a.run_bytes / unit, unit, unit, 1, 1, false, false};
  for (int i = 0; i < a.rank; ++i) {
    t.dims[t.rank++] = {a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride, 1, 1, false, false};
  }
  sort_by_in_stride(t);
}

candidates candidates_of(const permute_args& a, const device_model& device, wanted which) {
  candidates all;
  all.bytes = a.bytes();
  all.copy_us = 2 * static_cast<double>(all.bytes) / device.bytes_per_us;
  all.balance_squared = device.balance_squared();
  const std::int64_t unit = unit_of(a);
  set_untiled(all.units, a, unit);
  all.properties = shape_properties(a, all.units, device, all.bytes, all.copy_us);
  add_transposes(all, a, device);
  if (a.run_bytes >= 64 && unit < 16) all.add(family::rows, cost_of_rows(a, unit));
  add_misaligned(all, a, device);
  add_elementwise(all, a, device, which);
  add_gather(all, a, device, which);
  if (which == wanted::all) {
    std::sort(all.list + 1, all.list + all.count,
              [](const candidate& x, const candidate& y) { return x.microseconds < y.microseconds; });
  }
  return all;
}

}  // namespace twill::detail
