#pragma once

// The kernels of the scan ladder (exclusive sum), in the shape that the teaching documents give them. They differ from
// those in this: a block scans its own part of an array of any length and leaves the part's total in `sums`, which is
// scanned in the same way and then added (add_sums). With `sums` null, one block scans everything.

#include <cstdint>

#include "device.hpp"

namespace twill::TWILL_BACKEND::kernels {

/// One element a thread, log2 steps, double-buffered. The seed's `temp[pout] += temp[pin - offset]` adds to what
/// the buffer held two steps before; it has to be the sum of two elements of the other buffer.
template <class T, int X>
__global__ void __launch_bounds__(X) scan_naive(T* out, const T* in, std::int64_t n, T* sums) {
  __shared__ T temp[2][X];
  const int x = threadIdx.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * X;
  const T own = first + x < n ? in[first + x] : T{};
  const T before = x > 0 && first + x - 1 < n ? in[first + x - 1] : T{};  // exclusive: shifted right by one
  int from = 1, to = 0;
  temp[to][x] = before;
  __syncthreads();
  for (int offset = 1; offset < X; offset *= 2) {
    to = 1 - to;
    from = 1 - to;
    temp[to][x] = x >= offset ? temp[from][x] + temp[from][x - offset] : temp[from][x];
    __syncthreads();
  }
  const T result = temp[to][x];
  if (first + x < n) out[first + x] = result;
  if (sums != nullptr && x == X - 1) sums[blockIdx.x] = result + own;
}

// The shared-memory index of element i of the tree: one element of padding every 32 avoids the bank conflicts of
// strides of 2^k elements.
template <bool ConflictFree>
__device__ inline int padded_index(int i) {
  return ConflictFree ? i + (i >> 5) : i;
}

/// Two elements a thread, on a tree: sums up it, prefixes down it. 2n additions instead of n log2(n).
template <class T, int X, bool ConflictFree>
__global__ void __launch_bounds__(X) scan_tree(T* out, const T* in, std::int64_t n, T* sums) {
  constexpr int count = 2 * X;
  __shared__ T temp[count + (ConflictFree ? count / 32 : 0)];
  const int x = threadIdx.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * count;
  // Two adjacent elements a thread conflict; elements half a block apart do not, and loads stay coalesced.
  const int a = ConflictFree ? x : 2 * x, b = ConflictFree ? x + X : 2 * x + 1;
  temp[padded_index<ConflictFree>(a)] = first + a < n ? in[first + a] : T{};
  temp[padded_index<ConflictFree>(b)] = first + b < n ? in[first + b] : T{};

  int offset = 1;
  for (int d = X; d > 0; d /= 2) {  // sums, from the leaves to the root
    __syncthreads();
    if (x < d) {
      const int left = padded_index<ConflictFree>(offset * (2 * x + 1) - 1);
      const int right = padded_index<ConflictFree>(offset * (2 * x + 2) - 1);
      temp[right] += temp[left];
    }
    offset *= 2;
  }
  if (x == 0) {
    const int root = padded_index<ConflictFree>(count - 1);
    if (sums != nullptr) sums[blockIdx.x] = temp[root];
    temp[root] = T{};
  }
  for (int d = 1; d < count; d *= 2) {  // prefixes, from the root to the leaves
    offset /= 2;
    __syncthreads();
    if (x < d) {
      const int left = padded_index<ConflictFree>(offset * (2 * x + 1) - 1);
      const int right = padded_index<ConflictFree>(offset * (2 * x + 2) - 1);
      const T t = temp[left];
      temp[left] = temp[right];
      temp[right] += t;
    }
  }
  __syncthreads();
  if (first + a < n) out[first + a] = temp[padded_index<ConflictFree>(a)];
  if (first + b < n) out[first + b] = temp[padded_index<ConflictFree>(b)];
}

/// Adds to each part of `part` elements the sum of the parts before it.
template <class T, int X>
__global__ void __launch_bounds__(X) add_sums(T* out, std::int64_t n, const T* sums, int part) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * part;
  const T sum = sums[blockIdx.x];
  for (int i = threadIdx.x; i < part && first + i < n; i += X) out[first + i] += sum;
}

}  // namespace twill::TWILL_BACKEND::kernels
