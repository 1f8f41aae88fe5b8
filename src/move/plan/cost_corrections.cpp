#include "cost_corrections.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device_model.hpp"
#include "integers.hpp"

namespace twill::detail {
namespace {

// Logarithms of the factor of a cost, one property in each array; they add up.
struct cost_correction {
  double copy_time[3];                                            // where a copy takes 2^1.5, 2^3.5 and 2^6.5 us
  double unit[5];                                                 // of 1, 2, 4, 8 and 16 bytes
  double in_aligned[4], out_aligned[4];                           // rows at multiples of 1, 4, 32 and 128 bytes
  double out_first[4], out_second[4], in_first[4], in_second[4];  // dimensions of 2^4, 2^6, 2^8 and 2^11 bytes
};
constexpr double copy_time_log2[] = {1.5, 3.5, 6.5}, aligned_log2[] = {0, 2, 5, 7}, dimension_log2[] = {4, 6, 8, 11};

// Fitted to the times of 5,703 random transposes and permutations on H200s and to the choices in them
// (docs/planner.md).
constexpr cost_correction of_tiled_2d{{0.023, 0, -0.02},
                                      {0.016, -0.002, -0.004, 0.001, -0.009},
                                      {0, -0.001, 0.014, -0.01},
                                      {0, 0.016, 0.002, -0.016},
                                      {0.011, 0.003, 0, -0.012},
                                      {0.007, -0.006, 0.006, -0.004},
                                      {-0.006, -0.014, 0.008, 0.015},
                                      {0.023, -0.003, -0.013, -0.004}};
constexpr cost_correction of_misaligned_2d{{-0.016, 0.008, 0.018},        {0.01, 0.01, -0.001, -0.009, 0},
                                           {0.023, -0.006, 0.01, -0.017}, {-0.002, 0.005, -0.005, 0.012},
                                           {0, 0.015, 0.005, -0.009},     {0.003, 0.009, -0.003, 0.002},
                                           {0, 0.004, 0.012, -0.005},     {0.003, 0.018, 0.009, -0.018}};
constexpr cost_correction of_staged{{0.004, 0.002, -0.001},         {0.005, 0, 0, 0, 0},       {0.004, 0.002, 0, 0},
                                    {-0.001, 0.01, -0.002, -0.002}, {0.004, 0.003, -0.002, 0}, {0.003, 0.002, 0, 0},
                                    {0.003, 0.002, 0, 0},           {0.004, 0.003, -0.002, 0}};
constexpr cost_correction of_staged_misaligned{{0.01, 0.009, -0.015},          {-0.001, 0.004, -0.008, 0.004, 0.004},
                                               {0.002, 0.002, 0.002, -0.002},  {0.008, 0.015, -0.003, -0.016},
                                               {0.006, -0.006, 0.005, -0.001}, {0.006, 0.005, -0.003, -0.004},
                                               {0.006, 0.005, -0.003, -0.004}, {0.006, -0.006, 0.005, -0.001}};
constexpr cost_correction of_staged_cols{{0, 0.004, -0.006},
                                         {-0.012, 0.007, 0.002, 0, 0},
                                         {0.001, -0.005, -0.005, 0.006},
                                         {0.014, -0.007, -0.016, 0.006},
                                         {-0.012, -0.005, -0.003, 0.018},
                                         {0, 0.001, 0, -0.004},
                                         {0, 0.001, 0, -0.004},
                                         {-0.012, -0.005, -0.003, 0.018}};
constexpr cost_correction of_misaligned{{0.016, -0.023, 0.004},        {0.044, -0.008, -0.013, -0.026, 0},
                                        {-0.012, 0.01, 0.006, -0.007}, {-0.001, -0.003, -0.001, 0.001},
                                        {-0.001, -0.01, 0.003, 0.006}, {-0.011, -0.003, 0.001, 0.009},
                                        {-0.004, -0.003, 0.004, 0},    {-0.004, 0, -0.001, 0.002}};
constexpr cost_correction of_rows{
    {0.001, 0.003, -0.001},    {0.002, -0.002, 0, 0.003, 0},   {0.001, 0.002, 0.001, 0},  {0.001, 0.002, 0.001, 0},
    {0, -0.003, 0.004, 0.002}, {-0.003, -0.001, 0.003, 0.004}, {0, -0.003, 0.004, 0.002}, {-0.001, 0, 0.004, 0}};
constexpr cost_correction of_gather{{-0.017, 0.006, 0.01},           {0.006, -0.003, -0.005, 0.002, 0},
                                    {0.023, -0.002, -0.009, -0.012}, {0.024, -0.001, -0.016, -0.007},
                                    {-0.007, 0.002, 0.001, 0.004},   {0.006, -0.003, 0.001, -0.005},
                                    {-0.007, -0.002, 0.004, 0.005},  {-0.003, 0.003, -0.001, 0}};
constexpr cost_correction of_elementwise_vectors{{0.002, -0.006, 0.01},          {0.012, 0.006, 0.002, -0.015, 0},
                                                 {-0.006, -0.004, 0, 0.014},     {0.013, -0.021, 0.019, -0.005},
                                                 {0.001, 0.014, -0.002, -0.008}, {-0.005, -0.001, 0.002, 0.009},
                                                 {-0.015, 0.008, 0.004, 0.008},  {-0.009, -0.004, -0.004, 0.023}};

const cost_correction* correction_of(family kind) {
  switch (kind) {
    case family::tiled_2d:
      return &of_tiled_2d;
    case family::misaligned_2d:
      return &of_misaligned_2d;
    case family::staged:
      return &of_staged;
    case family::staged_misaligned:
      return &of_staged_misaligned;
    case family::staged_cols:
      return &of_staged_cols;
    case family::misaligned:
      return &of_misaligned;
    case family::rows:
      return &of_rows;
    case family::gather:
      return &of_gather;
    case family::elementwise_vectors:
      return &of_elementwise_vectors;
    default:
      return nullptr;
  }
}

// Linear between powers of two; of values from 1 on.
double about_log2(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  constexpr double scale = 1.0 / (std::uint64_t{1} << 52);  // the exponent is in the upper bits, the mantissa below
  return static_cast<double>(static_cast<std::int64_t>(bits)) * scale - 1023;
}

// Of values outside of the entries: the nearest.
template <int Entries>
table_place place_among(const double (&entries)[Entries], double value) {
  const double log2 = std::clamp(about_log2(value), entries[0], entries[Entries - 1]);
  int below = 0;
  for (int i = 1; i < Entries - 1; ++i) below += log2 >= entries[i] ? 1 : 0;
  return {below, (log2 - entries[below]) / (entries[below + 1] - entries[below])};
}

table_place place_of_alignment(std::int64_t bits) {
  return place_among(aligned_log2, static_cast<double>(lowest_bit(bits | 128)));
}

// Arrays of up to 2 MiB, whose launches have constants of their own, are not corrected, those of 4 MiB in full: the
// smallest of the fit.
double weight_of(double bytes) {
  constexpr double none = 2 << 20, full = 4 << 20;
  return std::clamp((bytes - none) / (full - none), 0.0, 1.0);
}

template <int Entries>
double between(const double (&entries)[Entries], table_place place) {
  return entries[place.below] + place.share * (entries[place.below + 1] - entries[place.below]);
}

}  // namespace

shape_properties::shape_properties(const permute_args& a, const composite_tile& t, double copy_us)
    : weight_(weight_of(static_cast<double>(a.bytes()))), unit_(place_of(t.unit)) {
  std::int64_t in_bits = address_of(a.in), out_bits = address_of(a.out);
  for (int i = 1; i < t.rank; ++i) {
    in_bits |= t.dims[t.in_order[i]].in_stride;
    out_bits |= t.dims[i].out_stride;
  }
  const auto place_of_dimension = [&](int i, int dim) {  // one that `t` does not have: as short as the first entry
    return place_among(dimension_log2, i < t.rank ? static_cast<double>(t.unit * t.dims[dim].extent) : 1);
  };
  copy_time_ = place_among(copy_time_log2, copy_us);
  in_aligned_ = place_of_alignment(in_bits), out_aligned_ = place_of_alignment(out_bits);
  out_first_ = place_of_dimension(0, 0), out_second_ = place_of_dimension(1, 1);
  in_first_ = place_of_dimension(0, t.in_order[0]), in_second_ = place_of_dimension(1, t.in_order[1]);
}

double shape_properties::correction(family kind) const {
  const cost_correction* const of = correction_of(kind);
  if (of == nullptr || weight_ <= 0) return 1;
  // Summed in pairs, which overlap.
  const double rows = between(of->in_aligned, in_aligned_) + between(of->out_aligned, out_aligned_);
  const double first = between(of->in_first, in_first_) + between(of->out_first, out_first_);
  const double second = between(of->in_second, in_second_) + between(of->out_second, out_second_);
  const double sum = (between(of->copy_time, copy_time_) + of->unit[unit_] + rows) + (first + second);
  const double log = weight_ * sum;  // small enough for two terms of the exponential function
  return 1 + log + log * log / 2;
}

}  // namespace twill::detail
