#pragma once

#include "scan/operations.hpp"

namespace twill::TWILL_BACKEND {

void scan(const detail::work_queue& queue, const detail::scan_args& args);
std::size_t scan_scratch(const detail::scan_args& args);

}  // namespace twill::TWILL_BACKEND
