#pragma once

#include "team/operations.hpp"

namespace twill::TWILL_BACKEND {

void signal(const detail::work_queue& queue, const detail::handshake& with, detail::handshake_phase phase);
void await(const detail::work_queue& queue, const detail::handshake& with, detail::handshake_phase phase,
           std::uint64_t ticks);
void finish(const detail::work_queue& queue, const detail::handshake& with, std::uint64_t ticks);
void exchange(const detail::work_queue& queue, const detail::exchange_call& call);

}  // namespace twill::TWILL_BACKEND
