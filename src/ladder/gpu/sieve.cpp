#include "sieve.hpp"

#include <cmath>
#include <cstdint>
#include <string>

#include "backends/backend.hpp"
#include "backends/error.hpp"
#include "launch.hpp"
#include "table.hpp"

namespace twill::TWILL_BACKEND {
namespace {

constexpr std::size_t segment_bytes = kernels::sieve_words * sizeof(std::uint32_t);

void require_shared_memory(const device_properties& device) {
  constexpr std::size_t own_bytes = 4096;  // more than the kernel's other shared memory
  if (device.shared_bytes_per_block >= segment_bytes + own_bytes) return;
  detail::fail(errc::unsupported, "sieve cannot run on " + device.name,
               "a block has " + std::to_string(device.shared_bytes_per_block) + " bytes of shared memory, a segment " +
                   std::to_string(segment_bytes),
               "sieve on another device");
}

}  // namespace

void sieve(const detail::work_queue& queue, const detail::sieve_args& a) {
  require_shared_memory(queue.device->properties());
  auto* scratch = static_cast<unsigned char*>(a.scratch);
  auto* base = reinterpret_cast<std::uint32_t*>(scratch);
  auto* counts = reinterpret_cast<std::uint64_t*>(scratch + detail::sieve_base_bytes);
  const std::int64_t segments = (a.last - a.first + kernels::sieve_span - 1) / kernels::sieve_span;
  const auto threads = static_cast<unsigned>(kernels::sieve_threads);
  const detail::launch_config one{{1, 1, 1}, {threads, 1, 1}, 0};
  const detail::launch_config all{{static_cast<unsigned>(segments), 1, 1}, {threads, 1, 1}, segment_bytes};

  const int limit = static_cast<int>(std::sqrt(static_cast<double>(a.last))) + 1;
  check(launch(queue, one, &kernels::sieve_base_primes, base, limit), "launch of sieve, base primes");
  kernels::sieve_problem problem{a.first, a.last, base, a.bits, counts, nullptr, a.capacity};
  check(launch(queue, all, &kernels::sieve_segments, problem), "launch of sieve");
  if (a.bits != nullptr) return;
  check(launch(queue, one, &kernels::sieve_offsets, counts, segments, a.count), "launch of sieve, count");
  if (!a.wants_list || a.capacity == 0) return;
  problem.list = a.list;
  check(launch(queue, all, &kernels::sieve_segments, problem), "launch of sieve, list");
}

}  // namespace twill::TWILL_BACKEND
