#include <algorithm>
#include <cstdint>

#include "backends/cpu/vector.hpp"
#include "element_size.hpp"
#include "mover.hpp"
#include "operations.hpp"
#include "tasks.hpp"

namespace twill::cpu {
namespace {

using detail::reverse_args;

// Elements [first, end) of the output, out of place; of the first half and their partners, in place.
void reverse_part(const reverse_args& a, std::int64_t first, std::int64_t end) {
  with_size(a.element_bytes, [=, &a](auto bytes) {
    const std::int64_t stop = end;  // stores could alias what the lambda holds
    const auto* from = static_cast<const unsigned char*>(a.in) + (a.count - 1 - first) * bytes;
    auto* to = static_cast<unsigned char*>(a.out) + first * bytes;
    if (a.in != a.out) {
      for (std::int64_t i = first; i < stop; ++i, from -= bytes, to += bytes) copy_element(to, from, bytes);
      return;
    }
    auto* partner = static_cast<unsigned char*>(a.out) + (a.count - 1 - first) * bytes;
    unsigned char held[64];
    for (std::int64_t i = first; i < stop; ++i, partner -= bytes, to += bytes) {
      copy_element(held, to, bytes);
      copy_element(to, partner, bytes);
      copy_element(partner, held, bytes);
    }
  });
}

// What reverses whole lines of elements of this size past the caches; nullptr where that cannot be.
auto streamed_of(const reverse_args& a) {
  const auto* vector = vectors();
  const int exponent = exponent_of(a.element_bytes);
  const bool fits = vector != nullptr && exponent >= 0 && a.in != a.out &&
                    a.count * a.element_bytes >= least_streamed &&
                    reinterpret_cast<std::uintptr_t>(a.out) % static_cast<std::uintptr_t>(a.element_bytes) == 0;
  return fits ? vector->reverse_streamed[exponent] : nullptr;
}

// Lines go past the caches; elements before the first and after the last do not.
template <class Streamed>
void reverse_lines(const reverse_args& a, std::int64_t first, std::int64_t end, Streamed streamed) {
  const std::int64_t in_line = line_bytes / a.element_bytes;
  auto* out = static_cast<unsigned char*>(a.out);
  const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out + first * a.element_bytes) %
                                              static_cast<std::uintptr_t>(line_bytes));
  const std::int64_t begin = std::min(end, first + (line_bytes - past) % line_bytes / a.element_bytes);
  const std::int64_t last = begin + (end - begin) / in_line * in_line;
  reverse_part(a, first, begin);
  streamed(static_cast<const unsigned char*>(a.in) + (a.count - begin) * a.element_bytes, out + begin * a.element_bytes,
           (last - begin) * a.element_bytes);
  reverse_part(a, last, end);
  vectors()->fence();
}

}  // namespace

void reverse(const detail::work_queue& queue, const reverse_args& a) {
  const std::int64_t work = a.in == a.out ? a.count / 2 : a.count;
  const std::int64_t at_once = std::max<std::int64_t>(1, (256 << 10) / a.element_bytes);
  const auto streamed = streamed_of(a);
  run_tasks(queue, work, at_once, [&](std::int64_t first, std::int64_t end) {
    if (streamed != nullptr) return reverse_lines(a, first, end, streamed);
    reverse_part(a, first, end);
  });
}

}  // namespace twill::cpu
