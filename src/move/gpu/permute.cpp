// Transposes and permutations: launches the kernel that the planner expects to be the fastest.

#include <iterator>

#include "families.hpp"
#include "move/plan/candidates.hpp"
#include "move/plan/normal_form.hpp"
#include "operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::work_queue;

// By a family of transposes; false, without a launch, where it does not apply.
bool launch_transpose(const work_queue& queue, const detail::transpose_args& a, detail::family kind, bool dry_run) {
  using start = void (*)(const work_queue&, const detail::transpose_args&);
  constexpr start starts[] = {&launch_narrow,
                              &launch_tiled_2d,
                              &launch_tiled_4byte,
                              &launch_misaligned_2d,
                              &launch_staged,
                              &launch_staged_misaligned,
                              nullptr,
                              &launch_staged_rows,
                              &launch_staged_cols,
                              &launch_elementwise_batch};
  static_assert(std::size(starts) == static_cast<std::size_t>(detail::family::vec3), "one for each family before vec3");
  if (kind == detail::family::staged_strided) return launch_staged_strided(queue, a, dry_run);
  if (kind == detail::family::vec3) return launch_vec3(queue, a, dry_run);
  if (!dry_run) starts[static_cast<int>(kind)](queue, a);
  return true;
}

// By any family; false, without a launch, where it does not apply.
bool launch_candidate(const work_queue& queue, const permute_args& a, const detail::candidates& all,
                      detail::family kind, bool dry_run) {
  switch (kind) {
    case detail::family::tiled:
      return launch_tiled(queue, a, all.untiled, dry_run);
    case detail::family::misaligned:
      return launch_misaligned(queue, a, all.untiled, dry_run);
    case detail::family::rows:
      return launch_rows(queue, a, dry_run);
    case detail::family::gather:
      if (!dry_run) launch_gather(queue, a, *all.gather);
      return true;
    case detail::family::elementwise:
      if (!dry_run) launch_elementwise(queue, a);
      return true;
    default:
      return launch_transpose(queue, *all.matrices, kind, dry_run);
  }
}

detail::candidates candidates_on(const work_queue& queue, const permute_args& a) {
  return detail::candidates_of(a, detail::model_of(queue.device->properties()));
}

}  // namespace

bool permute_with(const work_queue& queue, const permute_args& a, detail::family kind, bool dry_run) {
  const detail::candidates all = candidates_on(queue, a);
  for (int i = 0; i < all.count; ++i) {
    if (all.list[i].kind == kind) return launch_candidate(queue, a, all, kind, dry_run);
  }
  return false;
}

// By the cheapest candidate whose launch accepts the shape.
void permute(const work_queue& queue, const permute_args& a) {
  const detail::device_model device = detail::model_of(queue.device->properties());
  const detail::candidates first = detail::candidates_of(a, device, detail::wanted::cheapest);
  if (launch_candidate(queue, a, first, first.list[0].kind, false)) return;
  const detail::candidates all = detail::candidates_of(a, device);
  for (int i = 0; i < all.count; ++i) {
    if (launch_candidate(queue, a, all, all.list[i].kind, false)) return;
  }
}

// As a permutation, or as a copy if it is one.
void transpose(const work_queue& queue, const detail::transpose_args& a) {
  const permute_args form = detail::normal_form_of(a);
  if (form.rank > 0) return permute(queue, form);
  queue.device->copy(queue.native, form.out, form.in, static_cast<std::size_t>(form.run_bytes),
                     detail::copy_direction::device_to_device);
}

}  // namespace twill::TWILL_BACKEND
