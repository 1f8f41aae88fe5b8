#include "reverse.hpp"

#include <algorithm>

#include "backends/backend.hpp"
#include "operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::reverse_args;

template <class Unit>
void launch_reverse_staged(const work_queue& queue, const reverse_args& a) {
  const auto shared = shared_of(queue);
  const bool in_place = a.in == a.out;
  const std::int64_t budget = std::min<std::int64_t>(in_place ? 8192 : 16384, shared / 4);
  // Pieces of full lines of 128 bytes, as far as that is possible.
  const std::int64_t step = 128 / (a.element_bytes & -a.element_bytes), fit = budget / a.element_bytes;
  kernels::staged_line line{};
  line.count = a.count;
  line.bytes = static_cast<int>(a.element_bytes);
  line.piece = static_cast<int>(fit < step ? fit : fit / step * step);
  line.piece_bytes = (line.piece * line.bytes + 15) / 16 * 16 + 16;
  line.units = kernels::make_divisor(a.element_bytes / static_cast<std::int64_t>(sizeof(Unit)));
  const std::int64_t elements = in_place ? a.count / 2 : a.count, blocks = ceil_div(elements, line.piece);
  start_kernel({queue}, {blocks, kernels::reverse_threads, (in_place ? 2 : 1) * line.piece_bytes},
               &kernels::reverse_staged<Unit>, a, line);
}

}  // namespace

void reverse(const work_queue& queue, const reverse_args& a) {
  const std::int64_t bits = address_of(a.in) | address_of(a.out) | a.element_bytes | 16;
  with_unit(lowest_bit(bits), [&](auto one) { launch_reverse_staged<decltype(one)>(queue, a); });
}

}  // namespace twill::TWILL_BACKEND
