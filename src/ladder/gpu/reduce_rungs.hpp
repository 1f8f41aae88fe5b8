#pragma once

// The kernels of the reduction ladder, in the shape that the teaching documents give them (Harris, 2007, Optimizing
// Parallel Reduction in CUDA): a block sums a piece of the input in shared memory and leaves one partial sum; launches
// follow until one is left. They differ from the documents in three ways. Any length is right: 64-bit offsets, and
// zeros beyond the end. The last warp does not rely on running in step with `volatile` memory, which Volta ended: it
// shuffles. And `repeats` is the documents' loop in the kernel.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

template <class T>
__device__ inline T element_or_zero(const T* in, std::int64_t at, std::int64_t count) {
  return at < count ? in[at] : T{0};
}

// Every other thread adds, then every fourth: divergent warps, and a slow modulo.
template <class T>
__global__ void interleaved_divergent(T* out, const T* in, std::int64_t count, int repeats) {
  T* sums = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    sums[t] = element_or_zero(in, static_cast<std::int64_t>(blockIdx.x) * blockDim.x + t, count);
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      if (t % (2 * s) == 0) sums[t] += sums[t + s];
      __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
  }
}

// The first threads add, so that warps are fully active or idle; but the stride causes bank conflicts.
template <class T>
__global__ void interleaved_strided(T* out, const T* in, std::int64_t count, int repeats) {
  T* sums = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    sums[t] = element_or_zero(in, static_cast<std::int64_t>(blockIdx.x) * blockDim.x + t, count);
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      const unsigned at = 2 * s * t;
      if (at < blockDim.x) sums[at] += sums[at + s];
      __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
  }
}

// Sequential addressing: neighbouring threads access neighbouring banks.
template <class T>
__global__ void sequential(T* out, const T* in, std::int64_t count, int repeats) {
  T* sums = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    sums[t] = element_or_zero(in, static_cast<std::int64_t>(blockIdx.x) * blockDim.x + t, count);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (t < s) sums[t] += sums[t + s];
      __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
  }
}

/// The first addition of rungs whose block takes twice as many elements as it has threads.
template <class T>
__device__ inline T two_elements(const T* in, std::int64_t count, unsigned threads) {
  const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * (2 * threads) + threadIdx.x;
  return element_or_zero(in, at, count) + element_or_zero(in, at + threads, count);
}

// First add during load: no thread idles in the first step.
template <class T>
__global__ void first_add(T* out, const T* in, std::int64_t count, int repeats) {
  T* sums = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    sums[t] = two_elements(in, count, blockDim.x);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (t < s) sums[t] += sums[t + s];
      __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
  }
}

/// The last 64 partial sums, by the first warp and without a barrier; all 32 lanes call it, lane 0 has the sum.
template <class T>
__device__ inline T last_warp(const T* sums) {
  T sum = sums[threadIdx.x] + sums[threadIdx.x + 32];
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) sum += shuffle_down(sum, step);
  return sum;
}

// The last six steps have one warp: it needs neither barriers nor a loop.
template <class T>
__global__ void unroll_last_warp(T* out, const T* in, std::int64_t count, int repeats) {
  T* sums = dynamic_shared<T>();
  const unsigned t = threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    sums[t] = two_elements(in, count, blockDim.x);
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
      if (t < s) sums[t] += sums[t + s];
      __syncthreads();
    }
    if (t < 32) {
      const T sum = last_warp(sums);
      if (t == 0) out[blockIdx.x] = sum;
    }
  }
}

/// The sum of a block of `Threads` values, each step written out at compile time; in thread 0.
template <int Threads, class T>
__device__ inline T sum_of_block(T* sums, T mine) {
  const int t = static_cast<int>(threadIdx.x);
  sums[t] = mine;
  __syncthreads();
#pragma unroll
  for (int s = Threads / 2; s > 32; s /= 2) {
    if (t < s) sums[t] += sums[t + s];
    __syncthreads();
  }
  return t < 32 ? last_warp(sums) : mine;
}

// With the block's size known, no loop is left, and no address is multiplied by it.
template <int Threads, class T>
__global__ void __launch_bounds__(Threads) unroll_complete(T* out, const T* in, std::int64_t count, int repeats) {
  T* sums = dynamic_shared<T>();
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    const T sum = sum_of_block<Threads>(sums, two_elements(in, count, Threads));
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// As many blocks as are resident; each thread adds many elements before the tree (Brent's theorem).
template <int Threads, class T>
__global__ void __launch_bounds__(Threads) multiple_per_thread(T* out, const T* in, std::int64_t count, int repeats) {
  T* sums = dynamic_shared<T>();
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * (2 * Threads);
  for (int r = 0; r < repeats; ++r) {
    if (r > 0) __syncthreads();
    T mine = T{0};
    std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * (2 * Threads) + threadIdx.x;
    for (; at + Threads < count; at += stride) mine += in[at] + in[at + Threads];
    if (at < count) mine += in[at];
    const T sum = sum_of_block<Threads>(sums, mine);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// The roofline: every byte is read, 16 bytes a load and 32 KiB a block, and discarded. The store, which
// keeps the loads alive, happens when the bits of a thread cancel to one in 2^32 values.
inline constexpr int read_threads = 256, read_vectors = 8;

static __global__ void __launch_bounds__(read_threads)
    read_all(std::uint32_t* out, const word16* in, std::int64_t vectors, int repeats) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * (read_threads * read_vectors) + threadIdx.x;
  for (int r = 0; r < repeats; ++r) {
    word16 held[read_vectors];
#pragma unroll
    for (int i = 0; i < read_vectors; ++i) {
      const std::int64_t at = first + i * read_threads;
      held[i] = at < vectors ? in[at] : make_word16(0, 0, 0, 0);
    }
    std::uint32_t bits = static_cast<std::uint32_t>(r);
#pragma unroll
    for (int i = 0; i < read_vectors; ++i)
      bits ^= word<0>(held[i]) ^ word<1>(held[i]) ^ word<2>(held[i]) ^ word<3>(held[i]);
    if (bits == 0x5eed5eedu) *out = bits;
  }
}

}  // namespace twill::TWILL_BACKEND::kernels
