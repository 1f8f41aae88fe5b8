#pragma once

// Chooses the kernel and the grid of a reduction from its shape, for any kind.

#include <cstdint>

#include "columns.hpp"
#include "reduce.hpp"
#include "segments.hpp"
#include "short_rows.hpp"

#include "backends/error.hpp"
#include "gpu/cleared_scratch.hpp"
#include "gpu/dependent_launch.hpp"
#include "launch.hpp"
#include "reduce/operations.hpp"

namespace twill::TWILL_BACKEND {

/// The run-time traits of an operation: see reduce_problem.
struct op_traits {
  std::uint64_t pad = 0;    ///< the identity element
  std::uint64_t empty = 0;  ///< the result of an empty reduction
  std::uint64_t nan = 0;    ///< of the output's type
  kernels::op_params params;
  kernels::epilogue epilogue = kernels::epilogue::plain;
};

/// The problem of `args`, complete but for the grid.
kernels::reduce_problem problem_of(const detail::reduce_args& args, const op_traits& traits);

/// The grid of rows or segments; sets the work mapping.
detail::launch_config plan_rows(kernels::reduce_problem& p, const detail::reduce_args& args,
                                const device_properties& device);
/// The grid of columns, in tiles of vectors of `slots` elements. Unless `exact`, the shape alone decides the tree.
detail::launch_config plan_columns(kernels::column_problem& p, int slots, bool exact, const device_properties& device);

/// Launches the kernel of a reduction, with tickets at zero where it takes any.
template <class Problem>
void launch_reduction(const detail::work_queue& queue, const detail::launch_config& config,
                      const detail::reduce_args& args, bool takes_tickets, const char* what, void (*kernel)(Problem),
                      const Problem& p) {
  if (takes_tickets && !args.cleared_scratch) {
    return launch_with_cleared_scratch(queue, config, args.scratch, detail::reduce_ticket_bytes, what, kernel, p);
  }
  check(launch_dependent(queue, config, kernel, p), what);
}

template <class Kind, bool Aligned>
auto row_kernel(kernels::work_mapping mapping) {
  if (mapping == kernels::work_mapping::vectors) return &kernels::reduce_short_rows<Kind, Aligned>;
  if (mapping == kernels::work_mapping::medium) return &kernels::reduce_medium_rows<Kind, Aligned>;
  return mapping == kernels::work_mapping::tasks ? &kernels::reduce_tasks < Kind,
         Aligned || Kind::exact >                : &kernels::reduce_segments<Kind>;
}

template <class Kind>
void launch_rows(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  auto p = problem_of(args, traits);
  const auto config = plan_rows(p, args, queue.device->properties());
  const auto kernel = p.full_vectors ? row_kernel<Kind, true>(p.mapping) : row_kernel<Kind, false>(p.mapping);
  launch_reduction(queue, config, args, p.tasks > 1, "launch of a reduction", kernel, p);
}

template <class Kind>
auto column_kernel(kernels::row_alignment alignment) {
  using kernels::row_alignment;
  if constexpr (Kind::slots > 1) {  // else elements are vectors
    if (alignment == row_alignment::alike_in_parts)
      return &kernels::reduce_columns<Kind, row_alignment::alike_in_parts>;
    if (alignment == row_alignment::any) return &kernels::reduce_columns<Kind, row_alignment::any>;
  }
  return &kernels::reduce_columns<Kind, row_alignment::full_vectors>;
}

template <class Kind>
void launch_columns(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits) {
  kernels::column_problem p{problem_of(args, traits), args.cols, args.cols};
  const auto config = plan_columns(p, Kind::slots, Kind::exact, queue.device->properties());
  const auto kernel = column_kernel<Kind>(p.alignment);
  launch_reduction(queue, config, args, p.chunks > 1, "launch of a reduction of columns", kernel, p);
}

inline bool by_columns(const detail::reduce_args& args) {
  return args.over == detail::reduce_over::columns;
}

// One translation unit a family, to compile them in parallel.
void launch_floats(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits);
void launch_complex(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits);
void launch_integers(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits);
void launch_integer_columns(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits);
void launch_min(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits);
void launch_argmin(const detail::work_queue& queue, const detail::reduce_args& args, const op_traits& traits);

}  // namespace twill::TWILL_BACKEND
