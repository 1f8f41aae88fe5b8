// Permutations, and every move that has their normal form: runs that are long are copied, other elements go in tiles.

#include <algorithm>

#include "backends/cpu/vector.hpp"
#include "families.hpp"
#include "move/plan/normal_form.hpp"
#include "operations.hpp"
#include "tasks.hpp"
#include "tile_mover.hpp"

namespace twill::cpu {

void permute(const detail::work_queue& queue, const detail::permute_args& a) {
  if (const auto as = detail::as_transpose(a); as && transposes_directly(*as)) return transpose_directly(queue, *as);
  const std::int64_t bytes = a.bytes();
  const auto* const streamed_by = bytes >= least_streamed ? vectors() : nullptr;
  if (a.rank == 0 || a.run_bytes >= least_copied_run) return copy_runs(queue, a, streamed_by);
  const composite_tile tile = choose_tile(a);
  // Each task makes tables first: larger arrays have larger tasks.
  const std::int64_t task_bytes = std::clamp<std::int64_t>(bytes / (8 * team_of(queue).size()), 256 << 10, 2 << 20);
  const std::int64_t at_once = std::max<std::int64_t>(1, task_bytes / tile.bytes);
  run_tasks(queue, tile.tiles, at_once, [&](std::int64_t first, std::int64_t end) {
    tile_mover(a, tile, streamed_by).move(first, end);
    if (streamed_by != nullptr) streamed_by->fence();
  });
}

}  // namespace twill::cpu
