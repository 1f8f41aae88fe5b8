#pragma once

// The launches of the kernel families of permutations, each defined in the file of its name (elementwise: permute.cpp).
// Those that return bool return false, without a launch, where the kernel does not apply to the shape or the device;
// with `only_ask` they launch nothing in any case.

#include "move/operations.hpp"
#include "move/plan/gather.hpp"

namespace twill::TWILL_BACKEND {

void launch_gather(const detail::work_queue& queue, const detail::permute_args& args, const detail::gather_plan& plan);
bool permute_by_rows(const detail::work_queue& queue, const detail::permute_args& args, bool only_ask);
bool permute_by_tile(const detail::work_queue& queue, const detail::permute_args& args, bool only_ask);
bool permute_by_words(const detail::work_queue& queue, const detail::permute_args& args, bool only_ask);

}  // namespace twill::TWILL_BACKEND
