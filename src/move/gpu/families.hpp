#pragma once

// The launches of the kernels, each defined in the file of its family; preconditions of transposes are in
// move/plan/transposes.hpp. launch_staged_misaligned takes any packed matrices of aligned elements of 1, 2, 4, 8 or 16
// bytes for which with_pads(bytes) fits in a block's shared memory. Launches return false, and launch nothing, where
// the kernel does not apply to the shape or the device.

#include "move/operations.hpp"
#include "move/plan/candidates.hpp"

namespace twill::TWILL_BACKEND {

/// Where families are launched. In a dry run nothing is: launches say whether they would.
struct launch_queue : detail::work_queue {
  bool dry_run = false;
};

bool launch_tiled_2d(const launch_queue& queue, const detail::transpose_args& args);
bool launch_tiled_4byte(const launch_queue& queue, const detail::transpose_args& args);
bool launch_narrow(const launch_queue& queue, const detail::transpose_args& args);
bool launch_staged(const launch_queue& queue, const detail::transpose_args& args);
bool launch_staged_misaligned(const launch_queue& queue, const detail::transpose_args& args);
bool launch_staged_rows(const launch_queue& queue, const detail::transpose_args& args);
bool launch_staged_cols(const launch_queue& queue, const detail::transpose_args& args);
bool launch_staged_strided(const launch_queue& queue, const detail::transpose_args& args);
bool launch_vec3(const launch_queue& queue, const detail::transpose_args& args);
bool launch_misaligned_2d(const launch_queue& queue, const detail::transpose_args& args, detail::misaligned_tile tile);

bool launch_misaligned(const launch_queue& queue, const detail::permute_args& args, const detail::candidates& planned);
bool launch_gather(const launch_queue& queue, const detail::permute_args& args, const detail::gather_plan& plan);
bool launch_rows(const launch_queue& queue, const detail::permute_args& args);
/// `untiled`: of `args`, in units of unit_of(args).
bool launch_elementwise_vectors(const launch_queue& queue, const detail::permute_args& args,
                                const detail::composite_tile& untiled);
bool launch_elementwise(const launch_queue& queue, const detail::permute_args& args,
                        const detail::composite_tile& untiled);

/// Copies short rows with gaps between them, which are read too: returns false where the output lies in them, or where
/// another kernel is faster.
bool launch_strided_copy(const launch_queue& queue, const detail::pitched_rows& args);

/// Whether these are several tiny square matrices with gaps, of which a block takes more than one. `unit`: bytes that
/// all elements are aligned at.
bool is_in_place_elementwise(const detail::transpose_in_place_args& args, std::int64_t unit);
void launch_in_place_elementwise(const detail::work_queue& queue, const detail::transpose_in_place_args& args,
                                 std::int64_t unit);

/// Square matrices of any layout: in_place_square.cpp.
void swap_square(const detail::work_queue& queue, const detail::transpose_in_place_args& args, std::int64_t unit);

/// Packed matrices that are not square, with the least scratch memory: in_place_passes.cpp.
void launch_in_place_passes(const detail::work_queue& queue, const detail::transpose_in_place_args& args,
                            std::int64_t unit);

}  // namespace twill::TWILL_BACKEND
