#pragma once

#include "team/operations.hpp"

namespace twill::cpu {

void signal(const detail::work_queue& queue, const detail::handshake& with, detail::handshake_phase phase);

}  // namespace twill::cpu
