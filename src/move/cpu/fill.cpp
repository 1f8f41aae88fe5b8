#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/arguments.hpp"
#include "operations.hpp"
#include "tasks.hpp"

namespace twill::cpu {

// Tasks copy a run of 64 elements again and again.
void fill(const detail::work_queue& queue, const detail::fill_args& a) {
  constexpr std::int64_t elements = 64;
  unsigned char run[elements * detail::largest_element_bytes];
  const std::int64_t run_bytes = elements * a.element_bytes, bytes = a.count * a.element_bytes;
  for (std::int64_t i = 0; i < elements; ++i) {
    std::memcpy(run + i * a.element_bytes, a.value, static_cast<std::size_t>(a.element_bytes));
  }
  auto* out = static_cast<unsigned char*>(a.out);
  const std::int64_t at_once = (256 << 10) / run_bytes * run_bytes;
  run_tasks(queue, bytes, at_once, [&](std::int64_t first, std::int64_t end) {
    for (std::int64_t at = first; at < end; at += run_bytes) {
      std::memcpy(out + at, run, static_cast<std::size_t>(std::min(run_bytes, end - at)));
    }
  });
}

}  // namespace twill::cpu
