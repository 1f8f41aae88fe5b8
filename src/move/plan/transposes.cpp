#include "transposes.hpp"

#include <algorithm>
#include <cmath>

#include "integers.hpp"
#include "matrices.hpp"
#include "normal_form.hpp"
#include "strided.hpp"
#include "vec3.hpp"

namespace twill::detail {
namespace {

// Microseconds of a launch behind another one, and factors of a copy's time, for elements of 1, 2, 4, 8 and 16 bytes.
// Fitted to the times of 4,900 random transposes and permutations by every kernel that can move them, on an H200
// (docs/planner.md); what depends on the shape is in the function of the kernel, its own factors for
// each size last. Where few cases were drawn (16 bytes) neighbours give them, but for staged_misaligned.
struct kernel_cost {
  double launch[5], factor[5];
  double small[5] = {};  // launch of the smallest arrays; 0: the same
  double more[5] = {};
};
constexpr kernel_cost tiled_2d_cost{{2.25, 2.05, 1.89, 1.82, 2.25}, {1.108, 1.074, 1.064, 1.082, 1.065}};
constexpr kernel_cost tiled_4byte_cost{{1.57, 1.74, 1.45}, {1.06, 0.962, 1.124}, {1.93, 1.8, 1.7}};
constexpr kernel_cost staged_cost{{3.1}, {1.11}, {2.9}};
// From 2 bytes on, refitted to 117 batches (docs/planner.md).
constexpr kernel_cost staged_misaligned_cost{{5.2, 2.7, 2.46, 2.13, 2.2},
                                             {1.185, 1.026, 1.033, 1.021, 1.013},
                                             {2.4, 2.1, 2.1, 2.1, 2.1},
                                             {1.5, 0.49, 0.22, 0.78, 0.41}};
// Of 1 byte, from least_reordered_rows on.
constexpr kernel_cost staged_many_rows_cost{{3.9}, {1.045}, {2.4}, {0.61}};
constexpr kernel_cost staged_rows_cost{
    {3.48, 2.9, 2.24, 2.12}, {1.098, 1.036, 1.059, 1.061}, {}, {0.28, 0.29, 0.2, 0.16}};

// Output segments that end inside sectors, whose partial writes L2 no longer merges: output rows of several tiles; in
// full from 50 MB on.
double partial_sectors(const matrices& m) {
  constexpr double most = 0.06, from = 5e7;
  if (m.out_alignment() >= 32 || m.down <= 256 || m.size == 16) return 0;
  return most * std::min(1.0, static_cast<double>(m.bytes) * static_cast<double>(m.a.batch) / from);
}

// Input rows of less than 64 bytes spread a warp's loads, packed ones over the more lines the shorter they are. Of
// interleaved matrices, tiles whose rows are a few vectors hold little each.
double tiled_2d_more(const matrices& m) {
  const std::int64_t shorter = std::min(m.down, m.across);
  const double held = !m.is_interleaved() || shorter >= 128 ? 0 : shorter < 32 ? 2.5 : 0.16;
  const bool is_packed = m.a.in_ld == m.a.cols && m.across <= 64 && m.is_power(4);
  const double spread = is_packed ? (m.across <= 32 ? 0.14 : 0.04) : m.across < 64 ? 0.04 : 0;
  return spread + held + partial_sectors(m);
}

// Tiles that the matrix does not fill cost more.
double tiled_4byte_more(const matrices& m) {
  return 0.66 * (filled(m.down, 64) * filled(m.across, 128) - 1);
}

// Matrices of seven and eight columns (or rows) leave few blocks. Small ones take longer to launch: the fewer blocks,
// the less the latency of one is hidden, which grows with the short side.
cost_of_launch cost_of_narrow(const matrices& m) {
  constexpr double launch[5] = {1.64, 1.7, 1.7, 1.65, 1.65}, factor[5] = {1.04, 1.03, 1.035, 1.05, 1.04};
  constexpr double each = 0.14;  // us a column (or row) beyond the first
  const std::int64_t few = std::min(m.a.rows, m.a.cols);
  const double latency = each * static_cast<double>(few - 1) * share_of_small(m);
  return {launch[m.place()] + latency, factor[m.place()] + (few == 7 ? 0.15 : few == 8 ? 0.06 : 0)};
}

// The most blocks that a multiprocessor gets, over the mean, minus 1; at most 1.
double load_imbalance(std::int64_t blocks, const device_model& device) {
  const double each = static_cast<double>(blocks) / device.multiprocessors;
  return std::min(1.0, std::ceil(each) / each - 1);
}

double staged_misaligned_more(const matrices& m, const kernel_cost& cost, const device_model& device) {
  constexpr double of_imbalance = 0.25;  // copies
  // With gaps between them, a block takes one matrix, however small.
  const double alone = m.without_gaps() ? 0 : 800 / static_cast<double>(m.bytes);
  return cost.more[m.place()] * static_cast<double>(m.bytes) / static_cast<double>(device.shared_bytes) + alone +
         of_imbalance * load_imbalance(ceil_divided(m.a.batch, staged_at_once(m.a, device)), device);
}

// Blocks that together take more than 0.6 of shared memory leave little cache: so much more they take. `at_once`:
// blocks that a multiprocessor has threads for.
double crowding(std::int64_t bytes, std::int64_t at_once, const device_model& device) {
  bytes += reserved_shared_bytes;
  const std::int64_t blocks = std::min(divided(device.shared_bytes, bytes), at_once);
  return std::max(0.0, static_cast<double>(blocks * bytes) / static_cast<double>(device.shared_bytes) - 0.6);
}

// Of rows that staged_rows transposes in registers. Partially filled tiles execute as many instructions as full ones.
cost_of_launch cost_of_staged_blocks(const matrices& m) {
  return {2.25, 1.06 + 0.25 * (filled(m.down, m.across <= 32 ? 512 : 256) - 1)};
}

double staged_rows_more(const matrices& m, const device_model& device) {
  constexpr double partial[4] = {3.98, 2.18, 0.8, 0.55}, large[4] = {0.143, 0.107, 0.063, 0.067};  // 1 to 8 bytes
  const bool is_short = m.a.cols <= 64;
  const std::int64_t written = std::int64_t{16} << staged_rows_shift(m.a.cols);
  return partial[m.place()] * (filled(m.down, written) - 1) + (is_short ? 0 : large[m.place()]) +
         staged_rows_cost.more[m.place()] * crowding(with_pads((written + 32) * m.a.cols), 8, device);
}

// Bytes beyond a row with gaps must not be read: ends of rows of 1- and 2-byte elements are loaded one by one.
cost_of_launch ends_of_bands(const matrices& m) {
  if (m.size > 2 || is_packed_input(m.a)) return {0, 0};
  const auto row = static_cast<double>(m.across);
  return m.size == 1 ? cost_of_launch{3, 200 / row} : cost_of_launch{1.2, 150 / row};
}

std::int64_t least_blocks(const device_model& device) {
  return 2 * static_cast<std::int64_t>(device.multiprocessors);
}

// Bands that rows fill in part, and the fixed cost of a block where bands are small.
cost_of_launch cost_of_bands(const matrices& m, const device_model& device) {
  const band_cost& cost = staged_cols_costs[m.place()];
  const band_shape shape = shape_of_bands(m.a, device);
  const std::int64_t width = band_bytes(shape.vectors);
  const double tile = static_cast<double>(m.a.rows * std::min(m.across, width)) / 1000;
  const double crowded =
      crowding(bytes_of_band(m.a.rows, m.size, shape.vectors), resident_band_threads(m.size) / shape.threads, device);
  const cost_of_launch ends = ends_of_bands(m);
  return {cost.launch + ends.launch, shape.factor + cost.crowded * crowded + 0.33 * (filled(m.across, width) - 1) +
                                         cost.small / (tile * tile) + ends.factor};
}

// 2 to 8 packed columns, or rows that become packed columns, with long rows of full aligned vectors on the other side.
bool is_narrow(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  const auto [tall, few, length] = narrow_sides_of(a);
  if (!m.is_power(16) || few < 2 || few > 8 || length * m.size < 1024) return false;
  if ((tall ? a.in_ld : a.out_ld) != few || few * 64 * 18 > device.shared_bytes) return false;
  return ((m.address() | ((tall ? a.out_ld : a.in_ld) | length | m.strides()) * m.size) & 15) == 0;
}

// Rows of full aligned vectors, in arrays of up to so many bytes a multiprocessor: larger ones were not timed, or take
// longer than expected where output rows begin inside sectors.
bool is_tiled_4byte(const matrices& m, const device_model& device) {
  if (!m.is_power(4) || !m.in_vectors() || m.down < 64 || m.across < 16) return false;
  const std::int64_t each = m.across < 128 ? 16384 : m.out_alignment() < 32 ? 65536 : 524288;
  const std::int64_t most = each * device.multiprocessors;
  return tile_bytes_4byte <= device.shared_bytes && m.bytes <= divided(most, m.a.batch);
}

// Small matrices of a batch would leave most of a block idle.
bool is_tiled_2d(const matrices& m) {
  return m.is_power(16) && m.in_vectors() && std::max(m.down, m.across) >= 128 && (m.a.batch == 1 || m.bytes >= 2048);
}

// staged_misaligned, bytes per block: the minimum, and the maximum of several matrices; blocks exceed the minimum only
// while this many per multiprocessor remain; then its limit of shared memory.
constexpr std::int64_t least_block_bytes = 2048, most_block_bytes = 16384, wanted_blocks = 8;
std::int64_t most_staged_bytes(std::int64_t element_bytes, const device_model& device) {
  return device.shared_bytes / (element_bytes == 1 ? 2 : 3);
}

// Matrices of up to 16 KiB with gaps in or between them.
bool is_staged_strided(const matrices& m, const device_model& device) {
  constexpr std::int64_t farthest = 1 << 16, largest = 1 << 14;
  const transpose_args& a = m.a;
  if (a.batch < 2 || m.is_interleaved() || !m.is_power(8) || m.alignment < m.size) return false;
  if (a.rows > largest || a.cols > largest || m.bytes > largest) return false;
  if (m.bytes >= 2048 && a.in_ld == a.cols && a.out_ld == a.rows) return false;
  if (m.bytes >= 4096 && a.batch < device.multiprocessors) return false;
  const bool out_packed = a.out_ld == a.rows && a.out_stride == a.rows * a.cols;
  const bool has_gaps = a.in_ld != a.cols || a.in_stride != a.rows * a.cols || !out_packed;
  if (!has_gaps || a.in_ld > farthest || a.in_stride < 1 || a.in_stride > farthest / m.size) return false;
  // Staging does not pay for tiny matrices of 4 and 8 bytes (of 2 bytes below 3 rows) with gaps in the output.
  const bool is_tiny = a.rows * a.cols <= 128 && (m.size > 2 || (m.size == 2 && a.rows < 3));
  return out_packed || !is_tiny;
}

// 9 to 256 packed columns; from 2 of 1 byte and from 4 of 2 bytes, which narrow takes only in full aligned vectors.
bool is_staged_rows(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  const std::int64_t written = std::int64_t{16} << staged_rows_shift(a.cols);
  const int least = m.size == 1 ? 2 : m.size == 2 ? 4 : 9;
  if (!m.is_power(8) || m.alignment < m.size || a.in_ld != a.cols || a.cols < least || a.cols > 256) return false;
  return m.down >= 2 * written && with_pads((written + 32) * a.cols) <= device.shared_bytes / 3 &&
         divided(m.down, written) * a.batch >= least_blocks(device);
}

// Rows that become packed columns, from 9 on and as many as fit in shared memory.
bool is_staged_cols(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  if (!m.is_power(4) || m.alignment < m.size || a.out_ld != a.rows) return false;
  if (a.rows < least_band_rows || a.rows > device.shared_bytes || m.across < (m.size == 1 ? 128 : 256)) return false;
  return bytes_of_band(a.rows, m.size, 8) <= device.shared_bytes / 3 &&
         ceil_divided(m.across, band_bytes(shape_of_bands(a, device).vectors)) * a.batch >= least_blocks(device);
}

bool is_vec3(const matrices& m) {
  return vec3_sizes::has(m.size) && m.address() % lowest_bit(m.size) == 0 && (m.a.batch == 1 || m.bytes >= 8192);
}

}  // namespace

cost_of_launch least_of_tiles(std::int64_t element_bytes) {
  const int at = place_of(element_bytes);
  return {tiled_2d_cost.launch[at], tiled_2d_cost.factor[at] + 0.01};
}

bool is_staged(const transpose_args& a, const device_model& device) {
  const matrices m(a);
  if (m.size > 1 || a.batch == 1 || a.rows > staged_window_bytes || a.cols > staged_window_bytes) return false;
  if (a.in_ld != a.cols || a.out_ld != a.rows || !m.without_gaps() || m.address() % 16 != 0) return false;
  return m.bytes * pieces_to_align(m.bytes, 16) <= staged_window_bytes &&
         staged_window_bytes + staged_window_bytes / 8 <= device.shared_bytes / 3;
}

std::int64_t staged_at_once(const transpose_args& a, const device_model& device) {
  const matrices m(a);
  if (!m.without_gaps()) return 1;
  const std::int64_t least = ceil_divided(least_block_bytes, m.bytes);
  const std::int64_t fit = without_pads(most_staged_bytes(m.size, device));
  return std::clamp(a.batch / (wanted_blocks * device.multiprocessors), least,
                    std::max(least, std::min(most_block_bytes, fit) / m.bytes));
}

// Batches of packed matrices that fit in shared memory; from 2 KiB each, at least one per multiprocessor.
bool is_staged_misaligned(const transpose_args& a, const device_model& device) {
  const matrices m(a);
  if (!m.is_power(16) || m.alignment < m.size || a.in_ld != a.cols || a.out_ld != a.rows) return false;
  const std::int64_t most = most_staged_bytes(m.size, device);
  if (a.batch == 1 || a.rows > most || a.cols > most || m.bytes > most) return false;
  const std::int64_t block_bytes = staged_at_once(a, device) * m.bytes;  // with gaps, of one matrix
  return block_bytes >= least_block_bytes && with_pads(block_bytes) <= most &&
         (m.bytes < least_block_bytes || a.batch >= device.multiprocessors);
}

band_shape shape_of_bands(const transpose_args& a, const device_model& device) {
  const std::int64_t size = a.element_bytes;
  // Of 1 byte, with the fewest threads on any device: where there is little shared memory.
  const std::int64_t least = size == 1 ? std::min(bytes_of_band(12, size, 32), device.shared_bytes / 3) : 0;
  band_shape best{};
  for (const band_blocks& blocks : staged_cols_costs[place_of(size)].blocks) {
    const double share = blocks.share * static_cast<double>(device.shared_bytes);
    const auto most =
        std::max(static_cast<std::int64_t>(share), blocks.threads == least_band_threads(size) ? least : 0);
    std::int64_t fewest = INT64_MAX;
    for (const int place : {0, 1, 2}) {
      const int vectors = 32 >> place;
      const std::int64_t bands = ceil_divided(a.cols * size, band_bytes(vectors)), copied = bands * vectors;
      if (blocks.factor[place] == 0 || (vectors > 8 && bands * a.batch < least_blocks(device))) continue;
      if (bytes_of_band(a.rows, size, vectors) > most || copied >= fewest) continue;
      best = {vectors, blocks.threads, blocks.factor[place]}, fewest = copied;
    }
    if (best.vectors != 0) break;
  }
  return best;
}

bool has_staged_blocks(const transpose_args& a, std::int64_t shared_bytes) {
  const matrices m(a);
  return most_staged_blocks <= shared_bytes && m.is_power(4) && m.in_vectors() && m.across <= 64 && a.in_ld == a.cols;
}

void add_transposes(candidates& to, const permute_args& args, const device_model& device) {
  to.matrices = as_transpose(args);
  if (!to.matrices) return;
  const transpose_args& a = *to.matrices;
  const matrices m(a);
  const int at = m.place();
  const auto cost_of = [&](const kernel_cost& cost, double more) {
    return cost_of_launch{launch_of(cost.small[at], cost.launch[at], m), cost.factor[at] + more};
  };
  if (is_narrow(m, device)) to.add(family::narrow, cost_of_narrow(m));
  if (is_staged(a, device)) to.add(family::staged, cost_of(staged_cost, 0));
  if (is_staged_strided(m, device)) to.add(family::staged_strided, cost_of_strided(m, device));
  if (is_tiled_4byte(m, device)) to.add(family::tiled_4byte, cost_of(tiled_4byte_cost, tiled_4byte_more(m)));
  if (is_tiled_2d(m)) to.add(family::tiled_2d, cost_of(tiled_2d_cost, tiled_2d_more(m)));
  if (is_staged_misaligned(a, device)) {
    const bool has_many_rows = m.size == 1 && a.rows >= least_reordered_rows;
    const kernel_cost& cost = has_many_rows ? staged_many_rows_cost : staged_misaligned_cost;
    to.add(family::staged_misaligned, cost_of(cost, staged_misaligned_more(m, cost, device)));
  }
  if (has_staged_blocks(a, device.shared_bytes)) {
    to.add(family::staged_rows, cost_of_staged_blocks(m));
  } else if (is_staged_rows(m, device)) {
    to.add(family::staged_rows, cost_of(staged_rows_cost, staged_rows_more(m, device)));
  }
  if (is_staged_cols(m, device)) to.add(family::staged_cols, cost_of_bands(m, device));
  if (is_vec3(m)) to.add(family::vec3, {vec3_launch, vec3_factor(m)});
}

}  // namespace twill::detail
