// Permutations, transposes among them: launches the kernel that the planner expects to be the fastest.

#include <type_traits>

#include "families.hpp"
#include "operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::candidates;
using detail::permute_args;
using detail::work_queue;

// Launches a family; false, without a launch, where it does not apply.
using family_start = bool (*)(const work_queue&, const permute_args&, const candidates&, bool dry_run);

// A family that applies wherever it is a candidate: its launch returns nothing.
template <auto Launch>
bool launch_unconditionally(const work_queue& queue, const permute_args& a, const candidates& all, bool dry_run) {
  if (!dry_run) Launch(queue, a, all);
  return true;
}

// That of matrices; one that returns nothing applies wherever it is a candidate.
template <auto Launch>
bool launch_matrices(const work_queue& queue, const permute_args&, const candidates& all, bool dry_run) {
  if constexpr (std::is_invocable_v<decltype(Launch), const work_queue&, const detail::transpose_args&, bool>) {
    return Launch(queue, *all.matrices, dry_run);
  } else {
    if (!dry_run) Launch(queue, *all.matrices);
    return true;
  }
}

// That of contiguous runs, which needs nothing planned.
template <auto Launch>
bool launch_runs(const work_queue& queue, const permute_args& a, const candidates&, bool dry_run) {
  return Launch(queue, a, dry_run);
}

constexpr family_start starts[detail::families] = {&launch_matrices<&launch_narrow>,
                                                   &launch_matrices<&launch_tiled_2d>,
                                                   &launch_matrices<&launch_tiled_4byte>,
                                                   &launch_unconditionally<&launch_misaligned_2d>,
                                                   &launch_matrices<&launch_staged>,
                                                   &launch_matrices<&launch_staged_misaligned>,
                                                   &launch_matrices<&launch_staged_strided>,
                                                   &launch_matrices<&launch_staged_rows>,
                                                   &launch_matrices<&launch_staged_cols>,
                                                   &launch_matrices<&launch_vec3>,
                                                   &launch_misaligned,
                                                   &launch_runs<&launch_rows>,
                                                   &launch_unconditionally<&launch_gather>,
                                                   &launch_unconditionally<&launch_elementwise_vectors>,
                                                   &launch_unconditionally<&launch_elementwise>};

bool launch_candidate(const work_queue& queue, const permute_args& a, const candidates& all, detail::family kind,
                      bool dry_run) {
  return starts[static_cast<int>(kind)](queue, a, all, dry_run);
}

candidates candidates_on(const work_queue& queue, const permute_args& a, detail::wanted which) {
  return detail::candidates_of(a, detail::model_of(queue.device->properties()), which);
}

}  // namespace

bool permute_with(const work_queue& queue, const permute_args& a, detail::family kind, bool dry_run) {
  const candidates all = candidates_on(queue, a, detail::wanted::all);
  for (int i = 0; i < all.count; ++i) {
    if (all.list[i].kind == kind) return launch_candidate(queue, a, all, kind, dry_run);
  }
  return false;
}

// By the cheapest candidate whose launch accepts the shape.
void permute(const work_queue& queue, const permute_args& a) {
  if (a.rank == 0) return copy(queue, {a.in, a.out, 1, a.run_bytes, a.run_bytes, a.run_bytes});
  const candidates first = candidates_on(queue, a, detail::wanted::cheapest);
  if (launch_candidate(queue, a, first, first.list[0].kind, false)) return;
  const candidates all = candidates_on(queue, a, detail::wanted::all);
  for (int i = 0; i < all.count; ++i) {
    if (launch_candidate(queue, a, all, all.list[i].kind, false)) return;
  }
}

}  // namespace twill::TWILL_BACKEND
