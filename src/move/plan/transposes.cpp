#include "transposes.hpp"

#include <algorithm>
#include <cmath>

#include "integers.hpp"

namespace twill::detail {
namespace {

// Microseconds of a launch, and factors of a copy's time, for elements of 1, 2, 4, 8 and 16 bytes. Fitted to the times
// of 9,700 random transposes and permutations by every kernel that can move them, on an H200 (docs/decisions.md, "The
// planner"); what depends on the shape is in the function of the kernel.
struct kernel_cost {
  double launch[5], factor[5];
};
constexpr kernel_cost narrow_cost{{5.65, 5.65, 5.65, 5.65, 5.65}, {0.99, 1.035, 1, 1.01, 1.025}};
constexpr kernel_cost tiled_2d_cost{{6.66, 5.93, 5.93, 5.93, 5.93}, {1.04, 1.039, 1.025, 1.036, 1.03}};
constexpr kernel_cost tiled_4byte_cost{{5.9, 5.9, 5.9, 5.9, 5.9}, {0.93, 0.92, 1.02, 1, 1}};
constexpr kernel_cost staged_short_cost{{8.58, 7.2, 6.79, 6.79, 6.79}, {1.075, 1, 0.987, 0.974, 0.987}};
constexpr kernel_cost staged_long_cost{{8.08, 8.05, 7.42, 7.35, 6.79}, {1.115, 0.997, 0.985, 0.972, 0.999}};
constexpr kernel_cost staged_misaligned_cost{{8.21, 7.3, 6.8, 6.8, 6.8}, {1.214, 1.018, 0.997, 0.989, 1}};
constexpr kernel_cost staged_strided_cost{{5.8, 5.8, 5.8, 5.8, 5.8}, {1.07, 1.01, 0.99, 0.99, 1}};  // as staged
constexpr kernel_cost staged_rows_cost{{6.42, 6.42, 6.42, 6.42, 6.42}, {1.233, 1.105, 1.046, 1.023, 1}};
constexpr kernel_cost staged_cols_cost{{9.4, 8, 7, 7, 7}, {1.36, 1.2, 1.16, 1, 1}};
constexpr kernel_cost elementwise_batch_cost{{7.4, 7.4, 7.4, 7.4, 7.4}, {2.1, 2.1, 2.1, 2.1, 2.1}};

// Factors of misaligned-2d for what it issues and moves. Tiles in part, and rows shorter than a tile, are loaded with
// predicates; rows that begin inside of words need shuffles.
struct misaligned_cost {
  double launch, issued, moved, around, partial, inside, narrow;
};
constexpr misaligned_cost misaligned_2d_costs[5] = {{8.32, 0.63, 0.76, 0.32, 1.6, 1.16, 2},
                                                    {6.72, 0.694, 0.608, 0.526, 0.345, 1.1, 1.3},
                                                    {5.95, 0.712, 0.618, 0.406, 0, 1, 1},
                                                    {5.92, 0.687, 0.575, 0.313, 0, 1, 1},
                                                    {6, 1, 0.65, 0.15, 0, 1, 1}};
constexpr double vec3_launch = 9.5;

// A transpose as its candidates see it.
struct matrices {
  const transpose_args& a;
  std::int64_t size, down, across, bytes;  // of an element; of an output and an input row; of a matrix
  std::int64_t alignment;                  // of all rows, at most 16

  explicit matrices(const transpose_args& args)
      : a(args),
        size(a.element_bytes),
        down(a.rows * size),
        across(a.cols * size),
        bytes(down * a.cols),
        alignment(std::min<std::int64_t>(16, lowest_bit(address() | (a.in_ld | a.out_ld | strides()) * size | 16))) {}

  std::int64_t address() const {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in) | reinterpret_cast<std::uintptr_t>(a.out));
  }
  std::int64_t strides() const { return a.batch > 1 ? a.in_stride | a.out_stride : 0; }
  std::int64_t in_alignment() const {
    const auto in = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.in));
    return lowest_bit(in | (a.in_ld | (a.batch > 1 ? a.in_stride : 0)) * size | 64);
  }
  std::int64_t out_alignment() const {
    const auto out = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.out));
    return lowest_bit(out | (a.out_ld | (a.batch > 1 ? a.out_stride : 0)) * size | 64);
  }
  /// The size's place in tables of costs.
  int place() const { return size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : 4; }
  std::int64_t out_begin() const {
    const auto out = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(a.out));
    return out | (a.batch > 1 ? a.out_stride * size : 0);
  }
  bool is_power(std::int64_t most) const { return size <= most && (size & (size - 1)) == 0; }
  bool in_vectors() const { return alignment == 16 && down % 16 == 0 && across % 16 == 0; }
  bool is_interleaved() const {
    return a.batch > 1 && (a.in_stride < a.rows * a.in_ld || a.out_stride < a.cols * a.out_ld);
  }
  bool without_gaps() const { return a.in_stride == a.rows * a.cols && a.out_stride == a.rows * a.cols; }
};

// 2 to 8 packed columns, or rows that become packed columns, with long rows of whole vectors on the other side.
bool is_narrow(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  const bool tall = a.cols <= a.rows;
  const std::int64_t few = tall ? a.cols : a.rows, length = tall ? a.rows : a.cols;
  if (!m.is_power(16) || few < 2 || few > 8 || length * m.size < 1024) return false;
  if ((tall ? a.in_ld : a.out_ld) != few || few * 64 * 18 > device.shared_bytes) return false;
  return ((m.address() | ((tall ? a.out_ld : a.in_ld) | length | m.strides()) * m.size) & 15) == 0;
}

// Rows of whole vectors, so few bytes a multiprocessor that all blocks run at once.
bool is_tiled_4byte(const matrices& m, const device_model& device) {
  if (!m.is_power(4) || !m.in_vectors() || m.down < 64 || m.across < 16) return false;
  const std::int64_t most = (m.across < 128 ? 16384 : 65536) * static_cast<std::int64_t>(device.multiprocessors);
  return tile_bytes_4byte <= device.shared_bytes && m.bytes <= divided(most, m.a.batch);
}

// Small matrices of a batch would leave most of a block idle.
bool is_tiled_2d(const matrices& m) {
  return m.is_power(16) && m.in_vectors() && std::max(m.down, m.across) >= 128 && (m.a.batch == 1 || m.bytes >= 2048);
}

// Bytes of as many matrices as end at a multiple of 16.
std::int64_t ceil_aligned(std::int64_t bytes) {
  return bytes / std::min<std::int64_t>(16, lowest_bit(bytes)) * 16;
}

// Bytes of a block's shared memory with its pads.
std::int64_t with_pads(std::int64_t bytes) {
  return (bytes + 32) / 128 * 144 + 144;
}

// Batches of packed matrices that fit in shared memory, enough for all multiprocessors.
bool is_staged_misaligned(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  if (!m.is_power(8) || m.alignment < m.size || a.in_ld != a.cols || a.out_ld != a.rows) return false;
  const std::int64_t most = device.shared_bytes / (m.size == 1 ? 2 : 3);
  if (a.rows > most || a.cols > most || m.bytes > most) return false;
  const std::int64_t at_once = m.without_gaps() ? std::max<std::int64_t>(1, 16384 / m.bytes) : 1;
  if (at_once * m.bytes < 2048) return false;  // with gaps, a block has one
  return with_pads(at_once * m.bytes) <= most && a.batch / at_once >= device.multiprocessors;
}

// Tiny matrices with gaps.
bool is_elementwise_batch(const matrices& m) {
  const transpose_args& a = m.a;
  const bool packed = a.in_ld == a.cols && a.out_ld == a.rows && m.without_gaps();
  const std::int64_t units = divided(m.size, std::min(m.alignment, lowest_bit(m.size)));
  return a.batch > 1 && !packed && a.rows <= most_tiny_units && a.cols <= most_tiny_units &&
         a.rows * a.cols * units <= most_tiny_units;
}

// Matrices of up to 16 KiB with gaps in or between them.
bool is_staged_strided(const matrices& m, const device_model& device) {
  constexpr std::int64_t farthest = 1 << 16, largest = 1 << 14;
  const transpose_args& a = m.a;
  if (a.batch < 2 || !m.is_power(8) || m.alignment < m.size) return false;
  if (a.rows > largest || a.cols > largest || m.bytes > largest) return false;
  if (m.bytes >= 2048 && a.in_ld == a.cols && a.out_ld == a.rows) return false;
  if (m.bytes >= 4096 && a.batch < device.multiprocessors) return false;
  const bool out_packed = a.out_ld == a.rows && a.out_stride == a.rows * a.cols;
  const bool has_gaps = a.in_ld != a.cols || a.in_stride != a.rows * a.cols || !out_packed;
  if (!has_gaps || a.in_ld > farthest || a.in_stride < 1 || a.in_stride > farthest / m.size) return false;
  const bool is_tiny = is_elementwise_batch(m) && (m.size > 2 || (m.size == 2 && a.rows < 3));
  return out_packed || !is_tiny;
}

// 9 to 256 packed columns.
bool is_staged_rows(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  const std::int64_t written = a.cols <= 64 ? 512 : 256;  // bytes of an output row in a block
  if (!m.is_power(8) || m.alignment < m.size || a.in_ld != a.cols || a.cols < 9 || a.cols > 256) return false;
  return m.down >= 2 * written && with_pads((written + 32) * a.cols) <= device.shared_bytes / 3 &&
         divided(m.down, written) * a.batch >= 2 * static_cast<std::int64_t>(device.multiprocessors);
}

// Rows that become packed columns, from 9 on and as many as fit in shared memory.
bool is_staged_cols(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  if (!m.is_power(4) || m.alignment < m.size || a.out_ld != a.rows) return false;
  if (a.rows < 9 || a.rows > device.shared_bytes || m.across < 1024) return false;
  const int vectors = shape_of_bands(a.rows, m.size, device.shared_bytes).vectors;
  return bytes_of_bands(a.rows, m.size, vectors) <= device.shared_bytes / 3 &&
         divided(m.across, band_bytes(vectors)) * a.batch >= 2 * static_cast<std::int64_t>(device.multiprocessors);
}

bool is_misaligned_2d(const matrices& m, const device_model& device) {
  if (!m.is_power(8) || m.alignment < m.size || m.down < 64 || m.across < 64) return false;
  return tile_bytes_misaligned[m.size == 1 ? 0 : m.size == 2 ? 1 : m.size == 4 ? 2 : 3] <= device.shared_bytes;
}

bool is_vec3(const matrices& m) {
  if (m.size < 3 || m.is_power(16) || (m.size > 15 && m.size != 20 && m.size != 24)) return false;
  return m.address() % lowest_bit(m.size) == 0 && (m.a.batch == 1 || m.bytes >= 8192);
}

// Bytes in pieces of `piece`, the last one in part, over the bytes.
double filled(std::int64_t bytes, std::int64_t piece) {
  return static_cast<double>(ceil_divided(bytes, piece) * piece) / static_cast<double>(bytes);
}

// Elements of complete words need fewer instructions; short rows fill tiles in part, and so do short columns where
// tiles are shifted to the alignment of their output. Fitted to 3, 5, 6, 7, 12 and 24 bytes, and taken for the others:
// misaligned, 11, 13 and 15 bytes take 1.6 times a copy.
double vec3_factor(const matrices& m) {
  const bool even = m.size % 2 == 0;
  const double aligned = even ? 0.95 : 0.97, other = even ? 1.15 : 1.4;
  const bool wraps = m.a.rows <= 64 && m.a.out_ld == m.a.rows && m.out_begin() % 16 == 0;
  const double shifted = m.out_alignment() < 16 && !wraps ? std::min(2.2, 600 / static_cast<double>(m.down)) : 0;
  return (m.in_vectors() ? aligned : other) + shifted +
         std::max(0.0, 0.5 * (256.0 / static_cast<double>(m.across) - 1));
}

// Tiles of `length` bytes down, 32 of which are written by the next one, and those that are not full as `partial` more.
double tiles_down(std::int64_t down, std::int64_t length, double partial) {
  const std::int64_t written = length - 32, beyond = std::max<std::int64_t>(down - length, 0);
  const bool is_full = down >= length && beyond % written == 0;
  return 1 + static_cast<double>(ceil_divided(beyond, written)) + (is_full ? 0 : partial);
}

// Instructions and memory overlap. Tiles that the matrix does not fill cost as much as others; rows whose first word is
// shared with their neighbour are read twice.
double misaligned_2d_factor(const matrices& m) {
  const misaligned_cost& cost = misaligned_2d_costs[m.place()];
  const bool complete = m.in_alignment() % 4 == 0;
  const std::int64_t width = (complete ? 32 : 31) * std::max<std::int64_t>(4, m.size);
  const bool is_low = m.size == 1 && tiles_down(m.down, 128, 0) < 2 * tiles_down(m.down, 256, 0);
  const std::int64_t length = is_low ? 128 : 256;
  const double down =
      tiles_down(m.down, length, cost.partial) * static_cast<double>(length - 32) / static_cast<double>(m.down);
  const double issue = cost.issued * down * filled(m.across, width) * (complete ? 1 : cost.inside) *
                       (complete || m.across >= width ? 1 : cost.narrow);
  const double around = static_cast<double>(64 - m.in_alignment()) /
                        static_cast<double>(divided(m.across, ceil_divided(m.across, width)));
  const double moved = cost.moved + cost.around * around;
  // Between the rows of a matrix lie those of others: nobody completes their sectors in time.
  const bool is_cut = m.is_interleaved() && m.out_alignment() < 32;
  const double both = std::max(1.05, std::sqrt(issue * issue + moved * moved));  // never ahead of full vectors
  return both + (is_cut ? std::min(0.4, 100 / static_cast<double>(m.down)) : 0);
}

// Matrices of which few end at a multiple of 16 bytes need the long windows.
const kernel_cost& staged_cost(const matrices& m) {
  return ceil_aligned(m.bytes) > short_window ? staged_long_cost : staged_short_cost;
}

// Input rows of less than 64 bytes: a warp's loads are spread over many.
double tiled_2d_more(const matrices& m) {
  return m.across < 64 ? 0.13 : 0;
}

double staged_rows_more(const matrices& m) {
  const bool is_short = m.a.cols <= 64;
  return 0.65 * (filled(m.down, is_short ? 512 : 256) - 1) + (is_short ? 0 : m.size == 1 ? 0.258 : 0.113);
}

// Many rows leave few blocks to overlap.
double staged_cols_more(const matrices& m, const device_model& device) {
  const int vectors = shape_of_bands(m.a.rows, m.size, device.shared_bytes).vectors;
  const double rows = static_cast<double>(m.a.rows);
  const double crowded = std::max(0.0, rows * 1600 / static_cast<double>(device.shared_bytes) - 2);
  return 0.33 * (filled(m.across, band_bytes(vectors)) - 1) + 0.27 * crowded;
}

// Output rows that end inside sectors, and input rows that do inside of 64 bytes.
double ends_factor(const matrices& m, double written, double read) {
  double factor = 0;
  if (m.out_alignment() < 32) factor += written * 32 / static_cast<double>(m.down);
  return factor + read * static_cast<double>(64 - m.in_alignment()) / static_cast<double>(m.across);
}

class matrix_collector {
 public:
  explicit matrix_collector(const matrices& m) : place_(m.place()) {}
  void add(family kind, const kernel_cost& cost, double more = 0) {
    add(kind, cost.launch[place_], cost.factor[place_] + more);
  }
  void add(family kind, double launch, double factor) { all_.list[all_.count++] = {kind, launch, factor}; }
  const transpose_candidates& all() const { return all_; }

 private:
  int place_;
  transpose_candidates all_;
};

// Tiles of interleaved matrices whose rows are a few vectors hold little each.
double interleaved_factor(const matrices& m) {
  return m.is_interleaved() && std::min(m.down, m.across) < 128 ? 4 : 0;
}

}  // namespace

bool is_staged(const transpose_args& a, std::int64_t shared_bytes) {
  const matrices m(a);
  if (!m.is_power(16) || a.batch == 1 || a.rows > long_window || a.cols > long_window) return false;
  if (a.in_ld != a.cols || a.out_ld != a.rows || !m.without_gaps() || m.address() % 16 != 0) return false;
  const std::int64_t piece = ceil_aligned(m.bytes);
  const std::int64_t window = piece <= short_window ? short_window : long_window;
  return piece <= window && window + window / 8 <= shared_bytes / 3;
}

band_shape shape_of_bands(std::int64_t rows, std::int64_t size, std::int64_t shared_bytes) {
  for (const int vectors : {32, 16, 8}) {
    if (bytes_of_bands(rows, size, vectors) <= shared_bytes / 8) return {vectors, 256};
  }
  return {8, 512};
}

std::int64_t transpose_unit(const transpose_args& a) {
  return std::min(matrices(a).alignment, lowest_bit(a.element_bytes));
}

transpose_candidates plan_transposes(const transpose_args& a, const device_model& device) {
  const matrices m(a);
  matrix_collector found(m);
  if (is_narrow(m, device)) found.add(family::narrow, narrow_cost);
  if (is_staged(a, device.shared_bytes)) found.add(family::staged, staged_cost(m));
  if (is_staged_strided(m, device)) found.add(family::staged_strided, staged_strided_cost);
  if (is_tiled_4byte(m, device)) found.add(family::tiled_4byte, tiled_4byte_cost, ends_factor(m, 0.6, 0.2));
  if (is_tiled_2d(m)) found.add(family::tiled_2d, tiled_2d_cost, interleaved_factor(m) + tiled_2d_more(m));
  if (is_elementwise_batch(m)) found.add(family::elementwise_batch, elementwise_batch_cost);
  if (is_staged_misaligned(m, device)) found.add(family::staged_misaligned, staged_misaligned_cost);
  if (is_staged_rows(m, device)) found.add(family::staged_rows, staged_rows_cost, staged_rows_more(m));
  if (is_staged_cols(m, device)) found.add(family::staged_cols, staged_cols_cost, staged_cols_more(m, device));
  if (is_misaligned_2d(m, device)) {
    found.add(family::misaligned_2d, misaligned_2d_costs[m.place()].launch, misaligned_2d_factor(m));
  }
  if (is_vec3(m)) found.add(family::vec3, vec3_launch, vec3_factor(m));
  return found.all();
}

}  // namespace twill::detail
