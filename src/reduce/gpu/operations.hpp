#pragma once

#include "reduce/operations.hpp"

namespace twill::TWILL_BACKEND {

void reduce(const detail::work_queue& queue, const detail::reduce_args& args);

}  // namespace twill::TWILL_BACKEND
