// Repeats an element of 2 to 64 bytes over memory of any alignment, 16 bytes a store. A block stores a multiple of both
// the element and the vector, so a thread has one vector, which it stores several times.

#include <cstdint>
#include <numeric>

#include "backends/backend.hpp"
#include "device.hpp"
#include "gpu/dependent_launch.hpp"
#include "gpu/grid.hpp"
#include "gpu/limits.hpp"
#include "gpu/realign.hpp"
#include "launch.hpp"
#include "operations.hpp"

namespace twill::TWILL_BACKEND {
namespace kernels {

constexpr int fill_threads = 256;  // at most
constexpr int fill_depth = 8;      // vectors of a thread
constexpr int pattern_words = 20;  // a vector from any byte of an element, misaligned by up to 3 bytes

struct fill_words {
  std::uint32_t words[pattern_words];  // the element, again and again
  int element_bytes;
};

__global__ void __launch_bounds__(fill_threads)
    fill_vectors(unsigned char* out, std::int64_t bytes, fill_words pattern) {
  __shared__ std::uint32_t words[pattern_words];
  if (threadIdx.x == 0) {
#pragma unroll
    for (int i = 0; i < pattern_words; ++i) words[i] = pattern.words[i];
  }
  __syncthreads();
  const int lead = misalignment(out);
  const int within = (static_cast<int>(threadIdx.x) * 16 + 16 * pattern.element_bytes - lead) % pattern.element_bytes;
  std::uint32_t w[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    w[i] = funnel_shift(words[within / 4 + i], words[within / 4 + i + 1], static_cast<std::uint32_t>(within));
  }
  const word16 vector = make_word16(w[0], w[1], w[2], w[3]);
  wait_then_trigger_dependents();
  const std::int64_t block = block_index();
  std::int64_t at = (block * fill_depth * blockDim.x + threadIdx.x) * 16 - lead;
#pragma unroll
  for (int k = 0; k < fill_depth; ++k, at += static_cast<std::int64_t>(blockDim.x) * 16) {
    if (at >= 0 && at + 16 <= bytes) {
      *reinterpret_cast<word16*>(out + at) = vector;
      continue;
    }
    const auto* element = reinterpret_cast<const unsigned char*>(words) + within;
    for (std::int64_t byte = at < 0 ? 0 : at; byte < at + 16 && byte < bytes; ++byte) out[byte] = element[byte - at];
  }
}

}  // namespace kernels

void fill(const detail::work_queue& queue, const detail::fill_args& a) {
  kernels::fill_words pattern{};
  pattern.element_bytes = static_cast<int>(a.element_bytes);
  for (int i = 0; i < 4 * kernels::pattern_words; ++i) {
    pattern.words[i / 4] |= std::uint32_t{a.value[i % a.element_bytes]} << (8 * (i % 4));
  }
  // Vectors until the first byte of one is that of an element again.
  const auto period = static_cast<int>(a.element_bytes / std::gcd(a.element_bytes, std::int64_t{16}));
  const std::int64_t threads = kernels::fill_threads / period * period, bytes = a.count * a.element_bytes;
  const std::int64_t lead = address_of(a.out) % 16;
  check(launch_dependent(queue, grid_of(ceil_div(bytes + lead, kernels::fill_depth * threads * 16), threads, 0),
                         &kernels::fill_vectors, static_cast<unsigned char*>(a.out), bytes, pattern),
        "launch of fill");
}

}  // namespace twill::TWILL_BACKEND
