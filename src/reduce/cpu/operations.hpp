#pragma once

#include "reduce/operations.hpp"

namespace twill::cpu {

void reduce(const detail::work_queue& queue, const detail::reduce_args& args);

}  // namespace twill::cpu
