// Permutations, transposes among them: launches the kernel that the planner expects to be the fastest.

#include "operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::candidates;
using detail::family;

bool launch_candidate(const launch_queue& queue, const permute_args& a, const candidates& all, family kind) {
  switch (kind) {
    case family::narrow:
      return launch_narrow(queue, *all.matrices);
    case family::tiled_2d:
      return launch_tiled_2d(queue, *all.matrices);
    case family::tiled_4byte:
      return launch_tiled_4byte(queue, *all.matrices);
    case family::misaligned_2d:
      return launch_misaligned_2d(queue, *all.matrices, all.misaligned_2d_tile);
    case family::staged:
      return launch_staged(queue, *all.matrices);
    case family::staged_misaligned:
      return launch_staged_misaligned(queue, *all.matrices);
    case family::staged_strided:
      return launch_staged_strided(queue, *all.matrices);
    case family::staged_rows:
      return launch_staged_rows(queue, *all.matrices);
    case family::staged_cols:
      return launch_staged_cols(queue, *all.matrices);
    case family::vec3:
      return launch_vec3(queue, *all.matrices);
    case family::misaligned:
      return launch_misaligned(queue, a, all);
    case family::rows:
      return launch_rows(queue, a);
    case family::gather:
      return launch_gather(queue, a, *all.gather);
    case family::elementwise_vectors:
      return launch_elementwise_vectors(queue, a, all.units);
    case family::elementwise:
      return launch_elementwise(queue, a, all.units);
  }
  return false;
}

candidates candidates_on(const work_queue& queue, const permute_args& a, detail::wanted which) {
  return detail::candidates_of(a, detail::model_of(queue.device->properties()), which);
}

}  // namespace

bool permute_with(const work_queue& queue, const permute_args& a, family kind, bool dry_run) {
  const candidates all = candidates_on(queue, a, detail::wanted::all);
  for (int i = 0; i < all.count; ++i) {
    if (all.list[i].kind == kind) return launch_candidate({queue, dry_run}, a, all, kind);
  }
  return false;
}

// By the cheapest candidate whose launch accepts the shape.
void permute(const work_queue& queue, const permute_args& a) {
  if (a.rank == 0) return copy(queue, {a.in, a.out, 1, a.run_bytes, a.run_bytes, a.run_bytes});
  const candidates first = candidates_on(queue, a, detail::wanted::cheapest);
  if (launch_candidate({queue}, a, first, first.list[0].kind)) return;
  const candidates all = candidates_on(queue, a, detail::wanted::all);
  for (int i = 0; i < all.count; ++i) {
    if (launch_candidate({queue}, a, all, all.list[i].kind)) return;
  }
}

}  // namespace twill::TWILL_BACKEND
