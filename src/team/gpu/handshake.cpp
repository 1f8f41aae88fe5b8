#include "handshake.hpp"

#include "launch.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {

void signal(const detail::work_queue& queue, const detail::handshake& with, detail::handshake_phase phase) {
  check(launch(queue, {{1, 1, 1}, {kernels::handshake_threads, 1, 1}, 0}, &kernels::signal_peers, with,
               phase == detail::handshake_phase::ready, detail::counter_of(phase, with.size, with.rank)),
        "launch of the handshake");
}

void await(const detail::work_queue& queue, const detail::handshake& with, detail::handshake_phase phase,
           std::uint64_t ticks) {
  check(launch(queue, {{1, 1, 1}, {kernels::handshake_threads, 1, 1}, 0}, &kernels::await_peers, with,
               detail::counter_of(phase, with.size, 0), ticks),
        "launch of the handshake");
}

void finish(const detail::work_queue& queue, const detail::handshake& with, std::uint64_t ticks) {
  check(launch(queue, {{1, 1, 1}, {kernels::handshake_threads, 1, 1}, 0}, &kernels::finish_run, with,
               counter_of(detail::handshake_phase::done, with.size, 0), ticks),
        "launch of the handshake");
}

}  // namespace twill::TWILL_BACKEND
