#include <algorithm>
#include <cstring>

#include "device.hpp"
#include "operations.hpp"

namespace twill::cpu {
namespace {

using detail::reverse_args;

// Elements [first, end) of the output, out of place; of the first half and their partners, in place.
template <std::size_t Bytes>
void reverse_part(const reverse_args& a, std::int64_t first, std::int64_t end, std::size_t bytes) {
  if constexpr (Bytes != 0) bytes = Bytes;  // a constant, so that memcpy becomes a load
  const auto size = static_cast<std::int64_t>(bytes);
  const auto* from = static_cast<const unsigned char*>(a.in) + (a.count - 1 - first) * size;
  auto* to = static_cast<unsigned char*>(a.out) + first * size;
  if (a.in != a.out) {
    for (std::int64_t i = first; i < end; ++i, from -= size, to += size) std::memcpy(to, from, bytes);
    return;
  }
  auto* partner = static_cast<unsigned char*>(a.out) + (a.count - 1 - first) * size;
  unsigned char held[64];
  for (std::int64_t i = first; i < end; ++i, partner -= size, to += size) {
    std::memcpy(held, to, bytes);
    std::memcpy(to, partner, bytes);
    std::memcpy(partner, held, bytes);
  }
}

void reverse_any_part(const reverse_args& a, std::int64_t first, std::int64_t end) {
  switch (a.element_bytes) {
    case 1:
      return reverse_part<1>(a, first, end, 1);
    case 2:
      return reverse_part<2>(a, first, end, 2);
    case 4:
      return reverse_part<4>(a, first, end, 4);
    case 8:
      return reverse_part<8>(a, first, end, 8);
    case 16:
      return reverse_part<16>(a, first, end, 16);
    default:
      return reverse_part<0>(a, first, end, static_cast<std::size_t>(a.element_bytes));
  }
}

}  // namespace

void reverse(const detail::work_queue& queue, const reverse_args& a) {
  const std::int64_t work = a.in == a.out ? a.count / 2 : a.count;
  const std::int64_t at_once = std::max<std::int64_t>(1, (256 << 10) / a.element_bytes);
  team_of(queue).run(static_cast<std::size_t>((work + at_once - 1) / at_once), [&](std::size_t task) {
    const auto first = static_cast<std::int64_t>(task) * at_once;
    reverse_any_part(a, first, std::min(work, first + at_once));
  });
}

}  // namespace twill::cpu
