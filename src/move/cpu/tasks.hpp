#pragma once

// How operations share their work between threads, and loops over elements of a size that the compiler knows.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backends/cpu/device.hpp"
#include "move/plan/integers.hpp"

namespace twill::cpu {

/// Calls f(first, end) for parts of [0, count) of up to `at_once`, a task each.
template <class F>
void run_tasks(const detail::work_queue& queue, std::int64_t count, std::int64_t at_once, F&& f) {
  team_of(queue).run(static_cast<std::size_t>(detail::ceil_divided(count, at_once)), [&](std::size_t task) {
    const std::int64_t first = static_cast<std::int64_t>(task) * at_once;
    f(first, std::min(count, first + at_once));
  });
}

/// Calls f with the element size as a constant where it is a common one, so that elements move as words.
template <class F>
void with_size(std::int64_t bytes, F&& f) {
  switch (bytes) {
    case 1:
      return f(std::integral_constant<std::int64_t, 1>{});
    case 2:
      return f(std::integral_constant<std::int64_t, 2>{});
    case 4:
      return f(std::integral_constant<std::int64_t, 4>{});
    case 8:
      return f(std::integral_constant<std::int64_t, 8>{});
    case 16:
      return f(std::integral_constant<std::int64_t, 16>{});
    default:
      return f(bytes);
  }
}

}  // namespace twill::cpu
