#include "transpose_costs.hpp"

#include <algorithm>
#include <cmath>

#include "transposes.hpp"

namespace twill::detail {
namespace {

// Constants are fitted to the times of every kernel that could move 3,659 random transposes and permutations on an
// H200, and judged by 6,000 others (docs/decisions.md, "The planner"). Tables are of elements of 1, 2, 4, 8 and 16
// bytes.
using by_size = double[5];

// Bytes in pieces of `piece`, the last one in part, over the bytes.
double filled(std::int64_t bytes, std::int64_t piece) {
  return static_cast<double>(ceil_divided(bytes, piece) * piece) / static_cast<double>(bytes);
}

// How much is missing to `wanted`, over what there is.
double missing(double wanted, double there) {
  return std::max(0.0, wanted / there - 1);
}

// Output rows that end inside sectors, and input rows that do inside of 64 bytes.
double ends_factor(const matrices& m, double written, double read) {
  double factor = 0;
  if (m.out_alignment() < 32) factor += written * 32 / static_cast<double>(m.down);
  return factor + read * static_cast<double>(64 - m.in_alignment()) / static_cast<double>(m.across);
}

// Blocks of 256 threads and so much shared memory that a multiprocessor runs at once.
double blocks_at_once(std::int64_t shared, const device_model& device) {
  return static_cast<double>(std::clamp<std::int64_t>(divided(device.shared_bytes, shared + 1024), 1, 8));
}

constexpr double start_us = 0.08;  // from one small block of a multiprocessor to the next

}  // namespace

// Blocks of less than 1 KiB of the long side have idle lanes.
transpose_cost narrow_cost(const matrices& m) {
  constexpr by_size factor = {0.99, 1.03, 0.975, 0.976, 0.987};
  const std::int64_t length = std::max(m.a.rows, m.a.cols) * m.size;
  const double idle = missing(1024, static_cast<double>(length));
  return {5.8 + 0.6 * idle, factor[m.place()] + 0.1 * idle, ceil_divided(length, 2048) * m.a.batch, 1, start_us};
}

// Matrices of less than 2 KiB have blocks of a few threads. Tiles of interleaved matrices whose rows are a few vectors
// hold little each.
transpose_cost tiled_2d_cost(const matrices& m) {
  constexpr by_size factor = {1.089, 1.039, 1.029, 1.036, 1.03};
  const double interleaved = m.is_interleaved() && std::min(m.down, m.across) < 128 ? 4 : 0;
  return {5.93 + 0.5 * missing(2048, static_cast<double>(m.bytes)), factor[m.place()] + interleaved,
          ceil_divided(m.bytes * m.size, 65536) * m.a.batch, 1, start_us};
}

// With all blocks at once the time is that of one. Beyond, tiles that the matrix does not fill cost as much as others.
transpose_cost tiled_4byte_cost(const matrices& m, const device_model& device) {
  constexpr by_size factor = {0.93, 0.92, 1.02, 1, 1}, later = {0.16, 0.14, 0.035, 0, 0};
  constexpr double issued = 0.55, moved = 0.87;
  const std::int64_t tiles = ceil_divided(m.down, 64) * ceil_divided(m.across, 128) * m.a.batch;
  const double waiting = std::max(0.0, 1 - 16.0 * device.multiprocessors / static_cast<double>(tiles));
  const double fill = filled(m.down, 64) * filled(m.across, 128);
  const double unfilled = std::hypot(issued * fill, moved) - std::hypot(issued, moved);
  return {5.9, factor[m.place()] + ends_factor(m, 0.6, 0.2) + waiting * (later[m.place()] + unfilled), tiles};
}

// Instructions and memory overlap. Tiles that the matrix does not fill cost as much as others; rows whose first word is
// shared with their neighbour are read twice.
transpose_cost misaligned_2d_cost(const matrices& m) {
  constexpr by_size launch = {8.5, 6.4, 6, 6, 6}, issued = {0.87, 0.9, 0.81, 0.73, 1};
  const bool complete = m.in_alignment() % 4 == 0;
  const std::int64_t width = (complete ? 32 : 31) * std::max<std::int64_t>(4, m.size);
  const std::int64_t tiles =
      ceil_divided(std::max<std::int64_t>(m.down - 32, 1), 224);  // the last one writes all of it
  const double down = static_cast<double>(tiles * 224) / static_cast<double>(m.down);
  const double issue = issued[m.place()] * down * filled(m.across, width) * (complete || m.size > 2 ? 1 : 1.14);
  const double around = static_cast<double>(64 - m.in_alignment()) /
                        static_cast<double>(divided(m.across, ceil_divided(m.across, width)));
  const double moved = 0.65 + 0.15 * around;
  // Between the rows of a matrix lie those of others: nobody completes their sectors in time.
  const bool is_cut = m.is_interleaved() && m.out_alignment() < 32;
  const double both = std::max(1.05, std::sqrt(issue * issue + moved * moved));  // never ahead of full vectors
  return {launch[m.place()], both + (is_cut ? std::min(0.4, 100 / static_cast<double>(m.down)) : 0)};
}

// Matrices of which few end at a multiple of 16 bytes need the long windows.
transpose_cost staged_cost(const matrices& m) {
  constexpr by_size factor = {1.135, 1.002, 0.987, 0.974, 0.987}, more = {0.103, 0.036, 0.012, 0.012, 0.012};
  return {6.79, factor[m.place()] + (m.aligned_bytes() > short_window ? more[m.place()] : 0)};
}

// Three blocks at once, of bytes two, hide their latency.
transpose_cost staged_misaligned_cost(const matrices& m, const device_model& device) {
  constexpr by_size factor = {1.285, 1.029, 0.997, 0.989, 1}, kib_us = {0.16, 0.08, 0.04, 0.04, 0.04};
  const std::int64_t count = m.staged_at_once();
  const double at_once = blocks_at_once(m.staged_shared(), device);
  return {6.8, factor[m.place()] + missing(m.size == 1 ? 2 : 3, at_once), ceil_divided(m.a.batch, count), at_once,
          1.05 + kib_us[m.place()] * static_cast<double>(count * m.bytes) / 1000};
}

// Not measured: as staged.
transpose_cost staged_strided_cost(const matrices& m) {
  constexpr by_size factor = {1.07, 1.01, 0.99, 0.99, 1};
  return {5.8, factor[m.place()]};
}

// Blocks write the ends of their output rows unit by unit, and load 32 bytes more of each than they write.
transpose_cost staged_rows_cost(const matrices& m, const device_model& device) {
  constexpr by_size factor = {1.233, 1.105, 1.046, 1.023, 1};
  const std::int64_t written = m.rows_written();
  const double at_once = blocks_at_once(m.rows_shared(), device);
  const double short_runs = written == 512 ? 0 : m.size == 1 ? 0.258 : 0.113;
  return {6.42,
          factor[m.place()] + 0.65 * (filled(m.down, written) - 1) + short_runs + 60 / static_cast<double>(m.down) +
              0.3 * missing(4, at_once),
          ceil_divided(m.down, written) * m.a.batch, at_once,
          1.55 + 0.12 * static_cast<double>((written + 32) * m.a.cols) / 1000};
}

transpose_cost staged_cols_cost(const matrices& m, const device_model& device) {
  constexpr by_size factor = {1.674, 1.268, 1.177, 1, 1};
  const std::int64_t shared = m.a.rows * band_pitch;
  const double at_once = blocks_at_once(shared, device), many_rows = m.size < 4 && m.a.rows > 48 ? 0.17 : 0;
  return {7.13, factor[m.place()] + 0.33 * (filled(m.across, band_bytes) - 1) + many_rows + 0.3 * missing(6, at_once),
          ceil_divided(m.across, band_bytes) * m.a.batch, at_once, 1.35 + 0.12 * static_cast<double>(shared) / 1000};
}

transpose_cost elementwise_batch_cost() {
  return {7.4, 2.1};
}

// Elements of complete words need fewer instructions; short rows fill tiles in part, and so do short columns where
// tiles are shifted to the alignment of their output.
transpose_cost vec3_cost(const matrices& m) {
  const bool even = m.size % 2 == 0;
  const double aligned = even ? 0.95 : 0.97, other = even ? 1.15 : 1.4;
  const bool wraps = m.a.rows <= 64 && m.a.out_ld == m.a.rows && m.out_begin() % 16 == 0;
  const double shifted = m.out_alignment() < 16 && !wraps ? std::min(2.2, 600 / static_cast<double>(m.down)) : 0;
  return {9.5, (m.in_vectors() ? aligned : other) + shifted + 0.5 * missing(256, static_cast<double>(m.across)),
          ceil_divided(m.bytes, 16384) * m.a.batch, 8, 6};
}

}  // namespace twill::detail
