#pragma once

// Chooses the kernel and the grid of a reduction from its shape, for any kind.

#include <cstdint>

#include "columns.hpp"
#include "reduce.hpp"
#include "short_rows.hpp"

#include "backends/error.hpp"
#include "launch.hpp"
#include "reduce/operations.hpp"

namespace twill::TWILL_BACKEND {

/// What an operation adds to the shape: see reduce_problem.
struct reduce_meaning {
  std::uint64_t pad = 0;    ///< an element that changes nothing
  std::uint64_t empty = 0;  ///< an element that is the result of none
  std::uint64_t nan = 0;    ///< of the output's type
  kernels::reduce_terms terms;
  kernels::reduce_end end = kernels::reduce_end::plain;
};

/// The problem of `args`, complete but for the grid.
kernels::reduce_problem problem_of(const detail::reduce_args& args, const reduce_meaning& meaning);

/// The grid of rows or segments; sets how they are dealt out.
detail::launch_config plan_rows(kernels::reduce_problem& p, const detail::reduce_args& args,
                                const device_properties& device);
/// The grid of columns, in tiles of vectors of `slots` elements, or of single elements where `slots` is 0. Unless the
/// order does not matter (`exact`), the tree is the one that the shape decides.
detail::launch_config plan_columns(kernels::column_problem& p, int slots, bool exact, const device_properties& device);

/// Sets the tickets to zero, unless they are.
void clear_tickets(const detail::work_queue& queue, const detail::reduce_args& args);

template <class Kind>
auto row_kernel(kernels::reduce_deal deal) {
  if (deal == kernels::reduce_deal::vectors) return &kernels::reduce_short_rows<Kind>;
  if (deal == kernels::reduce_deal::medium) return &kernels::reduce_medium_rows<Kind>;
  return deal == kernels::reduce_deal::tasks ? &kernels::reduce_tasks<Kind> : &kernels::reduce_rows<Kind>;
}

template <class Kind>
void start_rows(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  auto p = problem_of(args, meaning);
  const auto config = plan_rows(p, args, queue.device->properties());
  if (p.tasks > 1) clear_tickets(queue, args);
  check(launch(queue, config, row_kernel<Kind>(p.deal), p), "launch of a reduction");
}

template <class Kind>
void start_columns(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  kernels::column_problem p{problem_of(args, meaning), args.cols, 1, 1, 1, 1};
  const auto config =
      plan_columns(p, Kind::exact && Kind::slots == 1 ? 0 : Kind::slots, Kind::exact, queue.device->properties());
  if (p.chunks > 1) clear_tickets(queue, args);
  check(launch(queue, config, &kernels::reduce_columns<Kind>, p), "launch of a reduction of columns");
}

inline bool by_columns(const detail::reduce_args& args) {
  return args.over == detail::reduce_over::columns;
}

// The families of operations, each in a file of its own: compilers take them at the same time.
void start_numbers(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning);
void start_complex(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning);
void start_integers(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning);
void start_integer_columns(const detail::work_queue& queue, const detail::reduce_args& args,
                           const reduce_meaning& meaning);
void start_least(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning);
void start_places(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning);

}  // namespace twill::TWILL_BACKEND
