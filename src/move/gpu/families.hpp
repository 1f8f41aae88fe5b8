#pragma once

// The launches of the kernels, each defined in the file of its family; preconditions of transposes are in
// move/plan/transposes.hpp. launch_staged_misaligned takes any packed matrices of aligned elements of 1, 2, 4, 8 or 16
// bytes for which with_pads(bytes) fits in a block's shared memory. Those that return bool return false, without a
// launch, where the kernel does not apply to the shape or the device; with `dry_run` they launch nothing in any case.

#include "move/operations.hpp"
#include "move/plan/candidates.hpp"

namespace twill::TWILL_BACKEND {

void launch_tiled_2d(const detail::work_queue& queue, const detail::transpose_args& args);
void launch_tiled_4byte(const detail::work_queue& queue, const detail::transpose_args& args);
void launch_narrow(const detail::work_queue& queue, const detail::transpose_args& args);
void launch_staged(const detail::work_queue& queue, const detail::transpose_args& args);
void launch_staged_misaligned(const detail::work_queue& queue, const detail::transpose_args& args);
void launch_staged_rows(const detail::work_queue& queue, const detail::transpose_args& args);
void launch_staged_cols(const detail::work_queue& queue, const detail::transpose_args& args);
bool launch_staged_strided(const detail::work_queue& queue, const detail::transpose_args& args, bool dry_run);
bool launch_vec3(const detail::work_queue& queue, const detail::transpose_args& args, bool dry_run);

bool launch_misaligned(const detail::work_queue& queue, const detail::permute_args& args,
                       const detail::candidates& planned, bool dry_run);
void launch_misaligned_2d(const detail::work_queue& queue, const detail::permute_args& args,
                          const detail::candidates& planned);
void launch_gather(const detail::work_queue& queue, const detail::permute_args& args,
                   const detail::candidates& planned);
void launch_elementwise_vectors(const detail::work_queue& queue, const detail::permute_args& args,
                                const detail::candidates& planned);
void launch_elementwise(const detail::work_queue& queue, const detail::permute_args& args,
                        const detail::candidates& planned);
bool launch_rows(const detail::work_queue& queue, const detail::permute_args& args, bool dry_run);

/// Copies short rows with gaps between them; returns false, without a launch, where another kernel is faster.
bool launch_strided_copy(const detail::work_queue& queue, const detail::pitched_rows& args);

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
