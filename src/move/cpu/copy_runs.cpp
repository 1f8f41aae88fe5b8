// Permutations whose runs are long enough to be copied as they are, without a buffer.

#include <algorithm>
#include <cstring>

#include "backends/cpu/device.hpp"
#include "families.hpp"
#include "walk.hpp"

namespace twill::cpu {
namespace {

constexpr std::int64_t task_bytes = std::int64_t{256} << 10;
constexpr std::int64_t prefetch_distance = 4096;  // in bytes of the output

}  // namespace

void copy_runs(const detail::work_queue& queue, const detail::permute_args& a, const vector_functions* streamed_by) {
  walk runs;
  for (int i = 0; i < a.rank; ++i) runs.add(a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride);
  const std::int64_t all = runs.count(), at_once = std::max<std::int64_t>(1, task_bytes / a.run_bytes);
  const std::int64_t pieces = (a.run_bytes + task_bytes - 1) / task_bytes;
  team_of(queue).run(static_cast<std::size_t>((all + at_once - 1) / at_once * pieces), [&](std::size_t task) {
    const auto first = static_cast<std::int64_t>(task) / pieces * at_once, end = std::min(all, first + at_once);
    const auto piece = static_cast<std::int64_t>(task) % pieces * task_bytes;
    const auto bytes = std::min(task_bytes, a.run_bytes - piece);
    const auto* const in = static_cast<const unsigned char*>(a.in) + piece;
    auto* const out = static_cast<unsigned char*>(a.out) + piece;
    walk::position now = runs.find(first), ahead = now;
    std::int64_t prefetched = first;
    for (std::int64_t run = first; run < end; ++run) {
      for (; prefetched < std::min(end, run + prefetch_distance / bytes); ++prefetched) {
        for (std::int64_t i = 0; i < bytes; i += line_bytes) __builtin_prefetch(in + ahead.from + i, 0, 2);
        runs.step(ahead);
      }
      if (streamed_by != nullptr) {
        streamed_by->stream(out + now.to, in + now.from, static_cast<std::size_t>(bytes));
      } else {
        std::memcpy(out + now.to, in + now.from, static_cast<std::size_t>(bytes));
      }
      runs.step(now);
    }
    if (streamed_by != nullptr) streamed_by->fence();
  });
}

}  // namespace twill::cpu
