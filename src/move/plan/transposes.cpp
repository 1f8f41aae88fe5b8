#include "transposes.hpp"

#include <algorithm>

#include "matrices.hpp"
#include "transpose_costs.hpp"

namespace twill::detail {
namespace {

// What a kernel can do. Where it should is up to its cost, but for the three of which a comment says that they were not
// measured elsewhere.

// 2 to 8 packed columns, or rows that become packed columns, with rows of full vectors on the other side.
bool is_narrow(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  const bool tall = a.cols <= a.rows;
  const std::int64_t few = tall ? a.cols : a.rows, length = tall ? a.rows : a.cols;
  if (!m.is_power(16) || few < 2 || few > 8) return false;
  if ((tall ? a.in_ld : a.out_ld) != few || few * 64 * 18 > device.shared_bytes) return false;
  return ((m.address() | ((tall ? a.out_ld : a.in_ld) | length | m.strides()) * m.size) & 15) == 0;
}

bool is_tiled_4byte(const matrices& m, const device_model& device) {
  return m.is_power(4) && m.in_vectors() && tile_bytes_4byte <= device.shared_bytes;
}

// A thread moves two blocks of 8-byte elements.
bool is_tiled_2d(const matrices& m) {
  return m.is_power(16) && m.in_vectors() && (m.size != 8 || m.down > 16 || m.across > 16);
}

// Batches of packed matrices that fit in shared memory.
bool is_staged_misaligned(const matrices& m, const device_model& device) {
  const transpose_args& a = m.a;
  if (!m.is_power(8) || m.alignment < m.size || a.in_ld != a.cols || a.out_ld != a.rows) return false;
  if (a.rows > device.shared_bytes || a.cols > device.shared_bytes || m.bytes > device.shared_bytes) return false;
  return m.staged_shared() <= device.shared_bytes;
}

// Tiny matrices with gaps. Not measured without gaps.
bool is_elementwise_batch(const matrices& m) {
  const transpose_args& a = m.a;
  const bool packed = a.in_ld == a.cols && a.out_ld == a.rows && m.without_gaps();
  const std::int64_t units = divided(m.size, std::min(m.alignment, lowest_bit(m.size)));
  return a.batch > 1 && !packed && a.rows <= most_tiny_units && a.cols <= most_tiny_units &&
         a.rows * a.cols * units <= most_tiny_units;
}

// Matrices of up to 16 KiB with gaps in or between them. Its time was never measured beside that of others: it keeps to
// the shapes that it was made for.
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

// Packed columns.
bool is_staged_rows(const matrices& m, const device_model& device) {
  if (!m.is_power(8) || m.alignment < m.size || m.a.in_ld != m.a.cols || m.a.cols > device.shared_bytes) return false;
  return m.rows_shared() <= device.shared_bytes;
}

// Rows that become packed columns.
bool is_staged_cols(const matrices& m, const device_model& device) {
  if (!m.is_power(4) || m.alignment < m.size || m.a.out_ld != m.a.rows) return false;
  return m.a.rows <= device.shared_bytes / band_pitch;
}

// Not measured for rows and columns of less than 64 bytes, a quarter of a tile.
bool is_misaligned_2d(const matrices& m, const device_model& device) {
  if (!m.is_power(8) || m.alignment < m.size || m.down < 64 || m.across < 64) return false;
  return tile_bytes_misaligned[m.place()] <= device.shared_bytes;
}

bool is_vec3(const matrices& m) {
  if (m.size != 3 && m.size != 5 && m.size != 6 && m.size != 7 && m.size != 12 && m.size != 24) return false;
  return m.address() % lowest_bit(m.size) == 0;
}

class collector {
 public:
  collector(const matrices& m, const device_model& device)
      : multiprocessors_(device.multiprocessors),
        copy_us_(2 * static_cast<double>(m.bytes) * static_cast<double>(m.a.batch) / device.bytes_per_us) {}
  void add(family kind, const transpose_cost& cost) {
    if (cost.blocks > INT32_MAX) return;
    const double rounds = static_cast<double>(cost.blocks) / (multiprocessors_ * cost.at_once);
    const double latency = cost.block_us * std::max(1.0, rounds);
    all_.list[all_.count++] = {kind, cost.launch, std::max(cost.factor, latency / copy_us_)};
  }
  const transpose_candidates& all() const { return all_; }

 private:
  int multiprocessors_;
  double copy_us_;
  transpose_candidates all_;
};

}  // namespace

bool is_staged(const transpose_args& a, std::int64_t shared_bytes) {
  const matrices m(a);
  if (!m.is_power(16) || a.batch == 1 || a.rows > long_window || a.cols > long_window) return false;
  if (a.in_ld != a.cols || a.out_ld != a.rows || !m.without_gaps() || m.address() % 16 != 0) return false;
  const std::int64_t piece = m.aligned_bytes();
  const std::int64_t window = piece <= short_window ? short_window : long_window;
  return piece <= window && window + window / 8 <= shared_bytes / 3;
}

std::int64_t transpose_unit(const transpose_args& a) {
  return std::min(matrices(a).alignment, lowest_bit(a.element_bytes));
}

transpose_candidates plan_transposes(const transpose_args& a, const device_model& device) {
  const matrices m(a);
  collector found(m, device);
  if (is_narrow(m, device)) found.add(family::narrow, narrow_cost(m));
  if (is_staged(a, device.shared_bytes)) found.add(family::staged, staged_cost(m));
  if (is_staged_strided(m, device)) found.add(family::staged_strided, staged_strided_cost(m));
  if (is_tiled_4byte(m, device)) found.add(family::tiled_4byte, tiled_4byte_cost(m, device));
  if (is_tiled_2d(m)) found.add(family::tiled_2d, tiled_2d_cost(m));
  if (is_elementwise_batch(m)) found.add(family::elementwise_batch, elementwise_batch_cost());
  if (is_staged_misaligned(m, device)) found.add(family::staged_misaligned, staged_misaligned_cost(m, device));
  if (is_staged_rows(m, device)) found.add(family::staged_rows, staged_rows_cost(m, device));
  if (is_staged_cols(m, device)) found.add(family::staged_cols, staged_cols_cost(m, device));
  if (is_misaligned_2d(m, device)) found.add(family::misaligned_2d, misaligned_2d_cost(m));
  if (is_vec3(m)) found.add(family::vec3, vec3_cost(m));
  return found.all();
}

}  // namespace twill::detail
