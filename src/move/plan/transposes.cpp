#include "transposes.hpp"

#include <algorithm>

#include "integers.hpp"

namespace twill::detail {
namespace {

// Microseconds of a launch, and factors of a copy's time for elements of 1, 2, 4, 8 and 16 bytes. Fitted to the times
// of 2,600 random transposes and permutations on an H200 (docs/decisions.md, "The planner").
struct kernel_cost {
  double launch, factor[5];
};
constexpr kernel_cost narrow_cost{4.4, {1.03, 1.07, 1.04, 1.036, 1.035}};
constexpr kernel_cost tiled_2d_cost{4.5, {1.115, 1.073, 1.052, 1.063, 1.065}};
constexpr kernel_cost tiled_4byte_cost{4.85, {0.925, 0.837, 0.968, 1, 1}};
constexpr kernel_cost tiled_linear_cost{4.37, {1.113, 1.06, 1.069, 1, 1}};
constexpr kernel_cost misaligned_cost{4.75, {1.347, 1.161, 1.066, 1.047, 1}};
constexpr kernel_cost staged_cost{5.7, {1.14, 1.03, 1.02, 1.015, 1.025}};
constexpr kernel_cost staged_misaligned_cost{5.93, {1.387, 1.11, 1.066, 1.04, 1}};
constexpr kernel_cost staged_strided_cost{4.4, {1.11, 1.05, 1.03, 1.03, 1}};  // not measured: as staged
constexpr kernel_cost staged_rows_cost{5.4, {1.272, 1.144, 1.102, 1.14, 1}};
constexpr kernel_cost staged_cols_cost{6, {1.65, 1.3, 1.21, 1, 1}};
constexpr kernel_cost elementwise_batch_cost{6, {2.2, 2.2, 2.2, 2.2, 2.2}};
constexpr double vec3_launch = 9.25;

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

// Packed rows of 16, 32 or 64 bytes.
bool is_tiled_linear(const matrices& m, const device_model& device) {
  if (!m.is_power(4) || m.alignment < 16 || m.a.in_ld != m.a.cols || m.down % 16 != 0 || m.down < 1024) return false;
  if (m.across != 16 && m.across != 32 && m.across != 64) return false;
  return 64 / (m.across / 16) * (m.a.cols + 1) * 16 <= device.shared_bytes;
}

bool is_tiled_2d(const matrices& m) {
  return m.is_power(16) && m.in_vectors() && std::max(m.down, m.across) >= 128;
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
  return m.down >= 8 * written && with_pads((written + 32) * a.cols) <= device.shared_bytes / 3 &&
         divided(m.down, written) * a.batch >= 2 * static_cast<std::int64_t>(device.multiprocessors);
}

// 9 to 96 rows that become packed columns.
bool is_staged_cols(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  if (!m.is_power(4) || m.alignment < m.size || a.out_ld != a.rows) return false;
  if (a.rows < 9 || a.rows > (m.size < 4 ? 96 : 72) || m.across < 8 * band_bytes) return false;
  return a.rows * band_pitch <= device.shared_bytes / 3 &&
         divided(m.across, band_bytes) * a.batch >= 2 * static_cast<std::int64_t>(device.multiprocessors);
}

bool is_misaligned_2d(const matrices& m, const device_model& device) {
  if (!m.is_power(8) || m.alignment < m.size || m.down < 256 || m.across < (m.size < 8 ? 128 : 512)) return false;
  return tile_bytes_misaligned[m.size == 1 ? 0 : m.size == 2 ? 1 : m.size == 4 ? 2 : 3] <= device.shared_bytes;
}

bool is_vec3(const matrices& m) {
  if (m.size != 3 && m.size != 5 && m.size != 6 && m.size != 7 && m.size != 12 && m.size != 24) return false;
  return m.address() % lowest_bit(m.size) == 0 && (m.a.batch == 1 || m.bytes >= 8192);
}

// Elements of whole words need fewer instructions; short rows fill tiles in part.
double vec3_factor(const matrices& m) {
  const bool even = m.size % 2 == 0;
  const double aligned = even ? 0.985 : 1.006, other = even ? 1.19 : 1.456;
  return (m.in_vectors() ? aligned : other) + std::max(0.0, 0.52 * (256.0 / static_cast<double>(m.across) - 1));
}

// Output rows that end inside sectors, and input rows that do inside of 64 bytes.
double ends_factor(const matrices& m, double written, double read) {
  double factor = 0;
  if (m.out_alignment() < 32) factor += written * 32 / static_cast<double>(m.down);
  return factor + read * static_cast<double>(64 - m.in_alignment()) / static_cast<double>(m.across);
}

class collector {
 public:
  explicit collector(const matrices& m)
      : class_(m.size == 1   ? 0
               : m.size == 2 ? 1
               : m.size == 4 ? 2
               : m.size == 8 ? 3
                             : 4) {}
  void add(family kind, const kernel_cost& cost, double more = 0) {
    add(kind, cost.launch, cost.factor[class_] + more);
  }
  void add(family kind, double launch, double factor) { all_.list[all_.count++] = {kind, launch, factor}; }
  const transpose_candidates& all() const { return all_; }

 private:
  int class_;
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
  const std::int64_t piece = m.bytes / std::min<std::int64_t>(16, lowest_bit(m.bytes)) * 16;
  const std::int64_t window = piece <= short_window ? short_window : long_window;
  return piece <= window && window + window / 8 <= shared_bytes / 3;
}

std::int64_t transpose_unit(const transpose_args& a) {
  return std::min(matrices(a).alignment, lowest_bit(a.element_bytes));
}

transpose_candidates plan_transposes(const transpose_args& a, const device_model& device) {
  const matrices m(a);
  collector found(m);
  const bool staged = is_staged(a, device.shared_bytes), few_bytes = m.bytes < 4096;
  if (is_narrow(m, device)) {
    found.add(family::narrow, narrow_cost);
  } else if (staged && (m.bytes < 2048 || !m.in_vectors())) {
    found.add(family::staged, staged_cost);
  } else {
    const bool strided = is_staged_strided(m, device);
    if (few_bytes && strided) found.add(family::staged_strided, staged_strided_cost);
    if (is_tiled_4byte(m, device)) {
      found.add(family::tiled_4byte, tiled_4byte_cost, ends_factor(m, 1.3, 0.39));
    } else if (is_tiled_linear(m, device)) {
      found.add(family::tiled_linear, tiled_linear_cost);
    } else if (is_tiled_2d(m)) {
      found.add(family::tiled_2d, tiled_2d_cost, interleaved_factor(m));
    } else if (staged) {
      found.add(family::staged, staged_cost);
    } else {
      if (!few_bytes && strided) found.add(family::staged_strided, staged_strided_cost);
      if (is_elementwise_batch(m)) {
        found.add(family::elementwise_batch, elementwise_batch_cost);
      } else if (is_staged_misaligned(m, device)) {
        found.add(family::staged_misaligned, staged_misaligned_cost);
      } else if (is_staged_rows(m, device)) {
        found.add(family::staged_rows, staged_rows_cost);
      } else if (is_staged_cols(m, device)) {
        found.add(family::staged_cols, staged_cols_cost);
      } else if (is_misaligned_2d(m, device)) {
        found.add(family::misaligned_2d, misaligned_cost, ends_factor(m, 2.1, 0.95));
      } else if (is_vec3(m)) {
        found.add(family::vec3, vec3_launch, vec3_factor(m));
      }
    }
  }
  return found.all();
}

}  // namespace twill::detail
