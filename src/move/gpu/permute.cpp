// Permutations: launches the kernel family that the planner expects to be the fastest.

#include <iterator>

#include "elementwise.hpp"

#include "families.hpp"
#include "move/plan/candidates.hpp"
#include "move/plan/normal_form.hpp"
#include "operations.hpp"
#include "start.hpp"

namespace twill::TWILL_BACKEND {
namespace {

using detail::permute_args;
using detail::work_queue;

template <class Unit>
void launch_elementwise(const work_queue& queue, const permute_args& a) {
  constexpr std::int64_t size = sizeof(Unit);
  kernels::elementwise_dims d{};
  const auto add = [&](std::int64_t extent, std::int64_t in_stride, std::int64_t out_stride) {
    d.extent[d.rank] = extent;
    d.in_stride[d.rank] = in_stride;
    d.out_stride[d.rank++] = out_stride;
    d.units *= extent;
  };
  d.units = 1;
  add(a.run_bytes / size, size, size);
  for (int i = 0; i < a.rank; ++i) add(a.dims[i].extent, a.dims[i].in_stride, a.dims[i].out_stride);
  const std::int64_t blocks = (d.units + kernels::elementwise_threads - 1) / kernels::elementwise_threads;
  start_kernel(queue, grid_of(blocks, kernels::elementwise_threads, 0), &kernels::permute_elementwise<Unit>, a, d);
}

void launch_permute_elementwise(const work_queue& queue, const permute_args& a) {
  with_unit(detail::unit_of(a), [&](auto one) { launch_elementwise<decltype(one)>(queue, a); });
}

// By a family of transposes; false, without a launch, where it does not apply.
bool launch_transpose(const work_queue& queue, const detail::transpose_args& a, detail::family kind, bool only_ask) {
  using start = void (*)(const work_queue&, const detail::transpose_args&);
  constexpr start starts[] = {&launch_narrow,
                              &launch_tiled,
                              &launch_tiled_4byte,
                              &launch_misaligned,
                              &launch_staged,
                              &launch_staged_misaligned,
                              nullptr,
                              &launch_staged_rows,
                              &launch_staged_cols,
                              &launch_elementwise_batch};
  static_assert(std::size(starts) == static_cast<std::size_t>(detail::family::vec3), "one for each family before vec3");
  if (kind == detail::family::staged_strided) return launch_staged_strided(queue, a, only_ask);
  if (kind == detail::family::vec3) return launch_vec3(queue, a, only_ask);
  if (!only_ask) starts[static_cast<int>(kind)](queue, a);
  return true;
}

// By any family; false, without a launch, where it does not apply.
bool launch_candidate(const work_queue& queue, const permute_args& a, const detail::candidates& all,
                      detail::family kind, bool only_ask) {
  switch (kind) {
    case detail::family::tiled:
      return permute_by_tile(queue, a, only_ask);
    case detail::family::misaligned:
      return permute_by_words(queue, a, only_ask);
    case detail::family::rows:
      return permute_by_rows(queue, a, only_ask);
    case detail::family::gather:
      if (!only_ask) launch_gather(queue, a, *all.gather);
      return true;
    case detail::family::elementwise:
      if (!only_ask) launch_permute_elementwise(queue, a);
      return true;
    default:
      return launch_transpose(queue, *detail::as_transpose(a), kind, only_ask);
  }
}

detail::candidates candidates_on(const work_queue& queue, const permute_args& a) {
  return detail::candidates_of(a, detail::model_of(queue.device->properties()));
}

}  // namespace

bool permute_with(const work_queue& queue, const permute_args& a, detail::family kind, bool only_ask) {
  const detail::candidates all = candidates_on(queue, a);
  for (int i = 0; i < all.count; ++i) {
    if (all.list[i].kind == kind) return launch_candidate(queue, a, all, kind, only_ask);
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

}  // namespace twill::TWILL_BACKEND
