#include <algorithm>
#include <cstring>

#include "backends/cpu/device.hpp"
#include "operations.hpp"

namespace twill::cpu {

constexpr std::int64_t longest_gathered = 16;  // bytes

// Short rows that become one are gathered in tiles. Of others, a task is some rows, or a piece of a long one: about 256
// KiB.
void copy(const detail::work_queue& queue, const detail::pitched_rows& a) {
  if (a.row_bytes <= longest_gathered && a.out_pitch == a.row_bytes && a.rows > 1) {
    return permute(queue, {a.in, a.out, a.row_bytes, 1, {{a.rows, a.in_pitch, a.out_pitch}}});
  }
  constexpr std::int64_t task_bytes = 256 << 10;
  const std::int64_t rows = std::clamp<std::int64_t>(task_bytes / a.row_bytes, 1, a.rows);
  const std::int64_t pieces = (a.row_bytes + task_bytes - 1) / task_bytes;
  team_of(queue).run(static_cast<std::size_t>((a.rows + rows - 1) / rows * pieces), [&](std::size_t task) {
    const auto begin = static_cast<std::int64_t>(task) / pieces * rows, end = std::min(a.rows, begin + rows);
    const auto first = static_cast<std::int64_t>(task) % pieces * task_bytes;
    const auto bytes = static_cast<std::size_t>(std::min(task_bytes, a.row_bytes - first));
    for (std::int64_t row = begin; row < end; ++row) {
      std::memcpy(static_cast<unsigned char*>(a.out) + row * a.out_pitch + first,
                  static_cast<const unsigned char*>(a.in) + row * a.in_pitch + first, bytes);
    }
  });
}

}  // namespace twill::cpu
