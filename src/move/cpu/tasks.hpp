#pragma once

// How operations share their work between threads.

#include <algorithm>
#include <cstdint>

#include "backends/cpu/device.hpp"
#include "move/plan/integers.hpp"

namespace twill::cpu {

/// Calls f(first, end) for parts of [0, count) of at most `at_once` items, a task each.
template <class F>
void run_tasks(const detail::work_queue& queue, std::int64_t count, std::int64_t at_once, const F& f) {
  team_of(queue).run(static_cast<std::size_t>(detail::ceil_divided(count, at_once)), [&](std::size_t task) {
    const std::int64_t first = static_cast<std::int64_t>(task) * at_once;
    f(first, std::min(count, first + at_once));
  });
}

}  // namespace twill::cpu
