#pragma once

// Chooses the kernel and the grid of a reduction from its shape, for any load and operation.

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/reduce.hpp"
#include "kernels/reduce_columns.hpp"

#include "backends/backend.hpp"
#include "core/check.hpp"
#include "launch.hpp"

namespace twill::TWILL_BACKEND {

/// What an operation adds to the shape: see reduce_problem.
struct reduce_meaning {
  std::uint64_t pad = 0;    ///< an element that changes nothing
  std::uint64_t empty = 0;  ///< an element that is the result of none
  kernels::reduce_terms terms;
  kernels::reduce_end end = kernels::reduce_end::plain;
};

/// `element`, as often as it fits 16 bytes; of complex numbers, its real part, with an imaginary part of `imaginary`.
void repeat_element(std::uint32_t (&words)[4], std::uint64_t element, element_type type, std::uint64_t imaginary);

/// The problem of `args`, complete but for the grid.
kernels::reduce_problem problem_of(const detail::reduce_args& args, const reduce_meaning& meaning);

/// The grid of rows longer than short ones; sets tasks and chunk_shift.
detail::launch_config plan_chunks(kernels::reduce_problem& p, const device_properties& device);
/// The grid of short rows; sets width.
detail::launch_config plan_short_rows(kernels::reduce_problem& p);
detail::launch_config plan_segments(const kernels::reduce_problem& p);
/// The grid of columns of `cols` elements, `element` bytes each.
detail::launch_config plan_columns(kernels::column_problem& p, std::int64_t element);

/// Launches the reduction that `args` asks for.
template <class Load, class Op>
void start_reduction(const detail::work_queue& queue, const detail::reduce_args& args, const reduce_meaning& meaning) {
  auto p = problem_of(args, meaning);
  if (args.over == detail::reduce_over::columns) {
    kernels::column_problem c{p, args.cols, 1, 1, 1};
    const auto config = plan_columns(c, static_cast<std::int64_t>(sizeof(typename Load::unit)));
    check(launch(queue, config, &kernels::reduce_columns<Load, Op>, c), "launch of a reduction of columns");
  } else if (args.over == detail::reduce_over::segments) {
    check(launch(queue, plan_segments(p), &kernels::reduce_segments<Load, Op>, p), "launch of a reduction of segments");
  } else if (p.bytes <= kernels::short_row_bytes) {
    const auto config = plan_short_rows(p);
    check(launch(queue, config, &kernels::reduce_short_rows<Load, Op>, p), "launch of a reduction of short rows");
  } else {
    const auto config = plan_chunks(p, queue.device->properties());
    check(launch(queue, config, &kernels::reduce_chunks<Load, Op>, p), "launch of a reduction");
  }
}

// The families of operations, each in a file of its own: compilers take them at the same time.
void start_sum(const detail::work_queue& queue, const detail::reduce_args& args);
void start_product(const detail::work_queue& queue, const detail::reduce_args& args);
void start_least(const detail::work_queue& queue, const detail::reduce_args& args);
void start_place(const detail::work_queue& queue, const detail::reduce_args& args);
void start_bits(const detail::work_queue& queue, const detail::reduce_args& args);

}  // namespace twill::TWILL_BACKEND
