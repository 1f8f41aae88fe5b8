#pragma once

#include "team/operations.hpp"

namespace twill::cpu {

void signal(const detail::work_queue& queue, const detail::handshake& with, detail::handshake_phase phase);
void store_tile(const detail::work_queue& queue, const detail::permute_args& tile);

}  // namespace twill::cpu
