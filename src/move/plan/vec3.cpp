#include "vec3.hpp"

#include <algorithm>

namespace twill::detail {
namespace {

// Rows and columns: a part of a group for each thread; wider for few rows.
void choose_extents(vec3_tiling& t, const transpose_args& a, const vec3_block& block) {
  const std::int64_t group = block.group, parts_of_group = group / block.part, threads = block.threads;
  const std::int64_t longest = (threads - 2) * 16 / a.element_bytes / group * group;  // a vector of a row per thread
  if (t.wraps) {
    t.groups = 1;
    t.height = a.rows;
    t.columns = std::min(longest, std::max(group, threads * block.part / a.rows / group * group));
    return;
  }
  t.columns = std::min<std::int64_t>(block.columns, a.cols);
  t.groups = threads / t.columns / parts_of_group;
  if (ceil_divided(a.rows, group) < t.groups) {
    t.groups = ceil_divided(a.rows, group);
    const std::int64_t wider = threads / parts_of_group / t.groups / group * group;
    t.columns = std::min(a.cols, std::max(t.columns, std::min({threads, longest, wider})));
  }
  t.height = t.groups * group;
}

}  // namespace

vec3_tiling vec3_tiling_of(const transpose_args& a) {
  const matrices m(a);
  const vec3_block block = vec3_block_of(static_cast<int>(a.element_bytes));
  vec3_tiling t{};
  t.out_aligned = m.out_alignment() >= 16;
  t.wraps = !t.out_aligned && a.out_ld == a.rows && a.rows <= 64 && m.side_alignment(a.out, 0, a.out_stride) >= 16;
  t.lead = t.wraps || t.out_aligned ? 0 : block.group - 1;
  choose_extents(t, a, block);
  const std::int64_t row_bytes = a.in_ld * a.element_bytes;
  const bool one_run = t.lead == 0 && !t.wraps && t.columns == a.cols && a.in_ld == a.cols &&
                       row_bytes * block.part <= (block.threads - 2) * 16;
  t.rows_in_run = one_run ? block.part : 1;
  t.run_bytes = t.columns * a.element_bytes * t.rows_in_run;
  t.in_aligned = (t.run_bytes | m.side_alignment(a.in, a.in_ld * t.rows_in_run, a.in_stride)) % 16 == 0;
  return t;
}

// Misaligned rows of interleaved matrices end in sectors that belong to other matrices as well, which blocks far away
// read and write.
double shared_sectors(const matrices& m, const vec3_tiling& t) {
  if (!m.is_interleaved() || t.in_aligned) return 0;
  return std::min(0.7, 250 / static_cast<double>(m.across)) + std::min(0.4, 400 / static_cast<double>(m.down));
}

// What is loaded around runs, what tiles leave empty across and down, and the lead. Fitted to 159 matrices on an H100
// and 78 of them with 70 % of its multiprocessors; misaligned even sizes corrected on an H200 (docs/planner.md).
double vec3_factor(const matrices& m) {
  const vec3_tiling t = vec3_tiling_of(m.a);
  const bool full = m.in_vectors() || t.rows_in_run > 1;
  const auto excess = [](std::int64_t taken, std::int64_t wanted) {
    return static_cast<double>(taken) / static_cast<double>(wanted) - 1;
  };
  const double loaded = excess(t.run_vectors() * 16, t.run_bytes);
  const double across = excess(ceil_divided(m.a.cols, t.columns) * t.columns, m.a.cols);
  const double down = excess(ceil_divided(m.a.rows + t.lead, t.height) * t.height, m.a.rows);
  const double misaligned = m.size % 4 == 0 ? 0.96 : m.size % 2 == 0 ? 1 : 1.12;
  return (full ? 0.91 : misaligned) + 0.5 * loaded + 0.7 * std::min(3.0, across) + std::min(3.0, down) +
         1.25 * static_cast<double>(t.lead) / static_cast<double>(t.height) + shared_sectors(m, t);
}

}  // namespace twill::detail
