#include "kernels/sieve.hpp"

#include <cmath>
#include <cstdint>

#include "backends/operations.hpp"
#include "launch.hpp"
#include "ops/table.hpp"

namespace twill::TWILL_BACKEND {

void sieve(const detail::work_queue& queue, const detail::sieve_args& a) {
  auto* scratch = static_cast<unsigned char*>(a.scratch);
  auto* base = reinterpret_cast<std::uint32_t*>(scratch);
  auto* counts = reinterpret_cast<std::uint64_t*>(scratch + detail::sieve_base_bytes);
  const std::int64_t segments = (a.last - a.first + kernels::sieve_span - 1) / kernels::sieve_span;
  const auto threads = static_cast<unsigned>(kernels::sieve_threads);
  const detail::launch_config one{{1, 1, 1}, {threads, 1, 1}, 0};
  const detail::launch_config all{
      {static_cast<unsigned>(segments), 1, 1}, {threads, 1, 1}, kernels::sieve_words * sizeof(std::uint32_t)};

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
