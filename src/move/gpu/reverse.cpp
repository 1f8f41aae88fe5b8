#include "reverse.hpp"

#include <algorithm>

#include "backends/backend.hpp"
#include "operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {

void reverse(const work_queue& queue, const detail::reverse_args& a) {
  const bool in_place = a.in == a.out;
  const std::int64_t unit = lowest_bit(address_of(a.in) | address_of(a.out) | a.element_bytes | 16);
  const std::int64_t budget = std::min<std::int64_t>(in_place ? 8192 : 16384, shared_of(queue) / 4);
  // Pieces of full lines of 128 bytes, as far as that is possible.
  const std::int64_t step = 128 / lowest_bit(a.element_bytes), fit = budget / a.element_bytes;
  kernels::staged_line line{};
  line.count = a.count;
  line.bytes = static_cast<int>(a.element_bytes);
  line.piece = static_cast<int>(fit < step ? fit : fit / step * step);
  line.piece_bytes = (line.piece * line.bytes + 15) / 16 * 16 + 16;
  line.units = kernels::make_divisor(a.element_bytes / unit);
  const std::int64_t elements = in_place ? a.count / 2 : a.count, blocks = ceil_div(elements, line.piece);
  const block_grid grid{blocks, kernels::reverse_threads, (in_place ? 2 : 1) * line.piece_bytes};
  with_unit(unit, [&](auto one) { start_kernel({queue}, grid, &kernels::reverse_staged<decltype(one)>, a, line); });
}

}  // namespace twill::TWILL_BACKEND
