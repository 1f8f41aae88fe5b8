#include "cost_corrections.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "device_model.hpp"
#include "integers.hpp"

namespace twill::detail {
namespace {

// Rows of a table of corrections: one for each size of the unit (1, 2, 4, 8 and 16 bytes) by a copy's time, and one for
// each other property. An entry is the logarithm of a factor; those of all properties add up.
enum correction_row {
  by_copy_time,
  by_form = 5,  // form_class_of
  by_in_alignment,
  by_out_alignment,
  by_out_first,  // the first and the second dimension of either side
  by_out_second,
  by_in_first,
  by_in_second,
  correction_rows
};
// Where the four entries of a row lie: log2 of microseconds, of what rows begin at multiples of, and of bytes.
constexpr double copy_time_log2[] = {1, 2, 3.5, 6.5}, aligned_log2[] = {0, 2, 5, 7}, dimension_log2[] = {4, 6, 8, 11};

// Three rows a line, families in the order of the enumerators. Fitted to the times of 12,240 random transposes and
// permutations on H200s, 240 of them of odd element sizes, and to the choices in them (docs/planner.md).
constexpr double corrections[families][correction_rows * 4] = {
    // narrow
    {0,      0.001, 0,      0,      0,      0.008,  0.004,  0,      -0.007, -0.007, -0.006, 0.005,
     0.003,  0.039, -0.013, -0.001, 0.001,  -0.001, -0.018, -0.01,  0.013,  -0.014, 0,      0,
     0.009,  0.004, -0.012, -0.002, 0.001,  0.004,  -0.002, -0.004, -0.01,  0.003,  0,      0.006,
     -0.021, 0.018, 0.015,  -0.013, -0.021, 0.018,  0.015,  -0.013, -0.01,  0.003,  0,      0.006},
    // tiled-2d
    {0.028, -0.012, -0.019, -0.034, 0.031,  0.07,   -0.052, -0.036, 0.072,  0.036,  -0.053, -0.039,
     0.025, 0.053,  0.008,  -0.029, -0.027, 0.026,  -0.013, -0.02,  -0.009, 0.003,  0.022,  0,
     0,     0.027,  0.006,  -0.017, 0,      0.035,  -0.004, -0.015, 0.029,  -0.007, 0.008,  -0.014,
     0.011, 0.006,  0.01,   -0.011, 0.006,  -0.017, 0.004,  0.022,  0.034,  -0.007, -0.01,  0},
    // tiled-4byte
    {-0.022, 0.03,   0,      0,     -0.035, -0.024, 0,      0,      -0.009, 0.059,  0,     0,
     0,      0,      0,      0,     0,      0,      0,      0,      0.007,  -0.018, 0.008, 0,
     0,      0.002,  -0.039, 0.035, 0,      0.017,  -0.009, -0.011, 0,      -0.01,  0.003, 0.005,
     0.001,  -0.006, 0.001,  0.002, 0,      -0.007, 0.006,  -0.001, 0.001,  -0.001, 0.007, -0.009},
    // misaligned-2d
    {-0.007, -0.004, 0.002,  0.025,  0.003,  -0.035, 0.03,   0.043,  -0.004, -0.058, 0.016, 0.023,
     -0.025, -0.04,  -0.007, 0.045,  0,      0,      0,      0,      -0.008, -0.013, 0.029, 0,
     0.04,   -0.004, 0.009,  -0.037, -0.019, 0.008,  -0.011, 0.03,   0,      0.026,  0.004, -0.022,
     0.001,  0.007,  -0.014, 0.014,  0,      0.01,   0.023,  -0.025, 0.001,  0.023,  0.011, -0.026},
    // staged
    {0.006,  -0.022, 0.004, 0.001,  0,      0,     0,     0,      0,     0,      0,      0,
     0,      0,      0,     0,      0,      0,     0,     0,      0,     -0.011, 0,      0,
     0.015,  -0.017, 0.003, -0.012, 0,      0.018, -0.02, -0.01,  0.008, -0.008, -0.011, 0,
     -0.002, 0.002,  -0.01, -0.001, -0.002, 0.002, -0.01, -0.001, 0.008, -0.008, -0.011, 0},
    // staged-misaligned
    {-0.035, -0.006, 0.021,  0.002,  -0.005, 0.017, -0.005, -0.017, -0.072, 0.001,  0.029,  0.014,
     -0.021, 0.011,  0.001,  0.011,  -0.007, 0.028, 0.011,  0.004,  0,      -0.016, 0,      0,
     -0.012, -0.004, -0.011, 0.011,  -0.005, -0.01, 0.005,  -0.006, 0.015,  -0.011, -0.005, -0.015,
     0.012,  0.003,  -0.012, -0.019, 0.012,  0.003, -0.012, -0.019, 0.015,  -0.011, -0.005, -0.015},
    // staged-strided: not corrected
    {},
    // staged-rows
    {0.005,  0.009,  -0.003, -0.019, -0.024, -0.011, 0.015,  0,      0.023,  0.007, 0.019,  -0.027,
     0.006,  0.008,  0.016,  -0.024, 0,      0,      0,      0,      -0.015, 0.016, 0,      0,
     0.012,  0.014,  -0.015, -0.01,  0.028,  0.006,  -0.017, -0.015, 0,      0,     -0.003, 0.004,
     -0.002, -0.015, 0.008,  0.011,  -0.002, -0.015, 0.008,  0.011,  0,      0,     -0.003, 0.004},
    // staged-cols
    {0.013,  -0.022, -0.014, -0.006, 0.002,  0.011,  0.006,  0.005,  -0.012, -0.015, 0.012,  0.011,
     0,      0,      0,      0,      0,      0,      0,      0,      0.003,  -0.01,  0,      0,
     -0.005, -0.003, 0.003,  -0.002, -0.004, -0.031, -0.004, 0.033,  -0.003, -0.01,  -0.029, 0.036,
     0,      -0.006, 0.009,  -0.009, 0,      -0.006, 0.009,  -0.009, -0.003, -0.01,  -0.029, 0.036},
    // vec3
    {0.022,  0.001,  0.007, -0.017, -0.004, -0.006, 0.016, -0.045, 0,     0.002,  0.003, 0.021,
     0,      -0.002, 0.002, 0.014,  0,      0,      0,     0,      0,     0,      0.015, -0.001,
     -0.007, 0.016,  0.005, 0,      -0.007, 0.016,  0.005, 0,      0.008, 0.006,  0,     0,
     0.013,  0.022,  0.01,  -0.031, 0.008,  0.006,  0,     0,      0.006, -0.014, 0.02,  0.002},
    // misaligned
    {0.02,   0.033,  0.017,  0.032, -0.057, -0.005, 0.019,  0.022,  -0.064, -0.013, -0.006, 0.013,
     -0.011, 0.003,  -0.032, 0.002, 0,      0,      0,      0,      0.015,  0.005,  -0.028, -0.019,
     -0.042, 0.011,  -0.002, 0.005, -0.011, -0.009, -0.004, -0.003, -0.016, -0.009, -0.006, 0.004,
     -0.006, -0.017, -0.005, 0.001, -0.009, -0.008, -0.008, -0.002, -0.024, 0.003,  -0.005, -0.001},
    // rows
    {0, 0.001,  0.004, 0.004, 0,     0,      -0.001, 0.005, 0,    -0.001, -0.001, 0,     -0.001, -0.001, 0,     0.005,
     0, 0,      0,     0,     0,     0,      0.005,  0.009, 0.01, 0.003,  0.001,  0,     0.01,   0.003,  0.001, 0,
     0, -0.003, 0.013, 0.004, 0.005, -0.003, 0.003,  0.01,  0,    -0.003, 0.013,  0.004, 0.01,   0.002,  0.001, 0.001},
    // gather
    {0.005,  0.023,  -0.021, -0.013, 0.104, 0.006,  -0.039, -0.052, 0.084,  0.001,  -0.017, -0.035,
     0.048,  -0.043, 0.005,  -0.025, 0.038, -0.049, 0.009,  -0.011, 0.002,  0.016,  -0.002, 0,
     0.024,  -0.002, 0,      -0.004, 0.041, 0.002,  -0.008, -0.018, -0.007, -0.002, 0.01,   0.016,
     -0.001, 0.003,  0.009,  0.006,  0.003, -0.004, 0.007,  0.011,  0.002,  0.011,  -0.003, 0.007},
    // elementwise-vectors
    {-0.019, -0.003, 0.017,  0.025, -0.008, -0.009, 0.018, 0.06,   0.01,   -0.003, -0.008, 0.005,
     -0.026, -0.036, -0.009, -0.01, 0,      0,      0,     0,      0.025,  -0.034, -0.013, 0.028,
     -0.005, -0.02,  0.019,  0.012, 0.019,  -0.025, 0.002, 0.01,   0.002,  0.005,  0.008,  -0.009,
     0.001,  -0.002, 0.006,  0,     -0.006, 0.014,  0.002, -0.004, -0.007, -0.004, 0.001,  0.017},
    // elementwise
    {0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,      0,
     0.009,  0.008,  0.001,  0.001,  -0.012, -0.02,  -0.018, 0.008,  -0.009, -0.032, -0.003, 0.021,
     0,      -0.009, 0,      -0.015, 0,      -0.003, -0.012, -0.009, -0.011, 0.014,  -0.018, -0.009,
     -0.008, -0.007, -0.008, -0.002, -0.011, 0.021,  -0.012, -0.022, -0.009, -0.005, 0.001,  -0.011},
};

// Linear between powers of two.
double approximate_log2(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr double scale = 1.0 / (std::uint64_t{1} << 52);  // the exponent is in the upper bits, the mantissa below
  return static_cast<double>(static_cast<std::int64_t>(bits)) * scale - 1023;
}

// Clamped to the ends of the table.
table_position locate(const double (&entries)[4], double value) {
  const double log2 = std::clamp(approximate_log2(value), entries[0], entries[3]);
  const int index = (log2 >= entries[1] ? 1 : 0) + (log2 >= entries[2] ? 1 : 0);
  return {index, (log2 - entries[index]) / (entries[index + 1] - entries[index])};
}

table_position locate_alignment(std::int64_t bits) {
  return locate(aligned_log2, static_cast<double>(lowest_bit(bits | 128)));
}

// Whether the outermost stride of each side is that of a packed array: false for padding, and for input windows that
// overlap.
bool is_packed(const composite_tile& t, std::int64_t bytes) {
  const tile_dim &in = t.dims[t.in_order[t.rank - 1]], &out = t.dims[t.rank - 1];
  return std::abs(in.in_stride) * in.extent == bytes && std::abs(out.out_stride) * out.extent == bytes;
}

// Corrects only what the fit covers: packed arrays on NVIDIA GPUs from sm_90 on, of more than 2 MiB (smaller ones have
// launch constants of their own); in full from 4 MiB on.
double weight_of(const composite_tile& t, std::int64_t bytes, const device_model& device) {
  constexpr double none = 2 << 20, full = 4 << 20;
  const double weight = std::clamp((static_cast<double>(bytes) - none) / (full - none), 0.0, 1.0);
  return device.overlaps && weight > 0 && is_packed(t, bytes) ? weight : 0;
}

// The address of the first row: a dimension of negative stride ends there.
std::int64_t first_row(const void* address, std::int64_t extent, std::int64_t stride) {
  return address_of(address) + std::min<std::int64_t>(0, (extent - 1) * stride);
}

// 0: up to two dimensions; 1: three, the outermost of which is the same on both sides (a batch of matrices); 2: other
// three; 3: more. A run of several units counts as a dimension.
int form_class_of(const composite_tile& t) {
  return t.rank <= 2 ? 0 : t.rank > 3 ? 3 : t.in_order[2] == 2 ? 1 : 2;
}

}  // namespace

shape_properties::shape_properties(const permute_args& a, const composite_tile& t, const device_model& device,
                                   std::int64_t bytes, double copy_us)
    : weight_(weight_of(t, bytes, device)), unit_(place_of(t.unit)), form_(form_class_of(t)) {
  if (weight_ <= 0) return;
  const tile_dim &in = t.dims[t.in_order[0]], &out = t.dims[0];
  std::int64_t in_bits = first_row(a.in, in.extent, in.in_stride),
               out_bits = first_row(a.out, out.extent, out.out_stride);
  for (int i = 1; i < t.rank; ++i) {
    in_bits |= t.dims[t.in_order[i]].in_stride;
    out_bits |= t.dims[i].out_stride;
  }
  const auto locate_dimension = [&](int i, bool of_input) {  // one that `t` does not have: as short as the first entry
    if (i >= t.rank) return locate(dimension_log2, 1);
    return locate(dimension_log2, static_cast<double>(t.unit * t.dims[of_input ? t.in_order[i] : i].extent));
  };
  copy_time_ = locate(copy_time_log2, copy_us);
  in_aligned_ = locate_alignment(in_bits), out_aligned_ = locate_alignment(out_bits);
  out_first_ = locate_dimension(0, false), out_second_ = locate_dimension(1, false);
  in_first_ = locate_dimension(0, true), in_second_ = locate_dimension(1, true);
}

double shape_properties::correction(family kind) const {
  if (weight_ <= 0) return 1;
  const auto& table = corrections[static_cast<int>(kind)];
  const auto interpolated = [&](int row, table_position at) {
    const double* const entry = table + row * 4 + at.index;
    return entry[0] + at.fraction * (entry[1] - entry[0]);
  };
  // Independent partial sums, for the sake of instruction-level parallelism.
  const double rows = interpolated(by_in_alignment, in_aligned_) + interpolated(by_out_alignment, out_aligned_);
  const double first = interpolated(by_in_first, in_first_) + interpolated(by_out_first, out_first_);
  const double second = interpolated(by_in_second, in_second_) + interpolated(by_out_second, out_second_);
  const double sum =
      (interpolated(by_copy_time + unit_, copy_time_) + table[by_form * 4 + form_] + rows) + (first + second);
  const double log = weight_ * sum;
  return 1 + log + log * log / 2;  // the exponential function to second order: sums are small
}

}  // namespace twill::detail
