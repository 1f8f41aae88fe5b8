// Code of reductions that other devices than simulated ones choose.

#include <doctest/doctest.h>

#include <vector>

#include <twill/buffer.hpp>

#include "support/simt_launch.hpp"

#include "reduce/gpu/short_rows.hpp"

namespace twill::simt {
namespace {

// Neither commutative nor associative.
struct ordered {
  using value = int;
  static __device__ int combine(int a, int b, const kernels::op_params&) { return 10 * a + b; }
};

// Combines 8 parts of rows, 2^shift a row, in a loop that is unrolled, and where such loops would not keep arrays in
// registers.
__global__ void combine_parts(int* looped, int* unrolled, int shift) {
  int a[8], b[8];
  for (int i = 0; i < 8; ++i) a[i] = b[i] = i + 1;
  const kernels::op_params params;
  kernels::combine_row_parts<ordered>(a, shift, params);
  if (shift >= 1) kernels::combine_pairs<ordered, 4>(b, params);
  if (shift >= 2) kernels::combine_pairs<ordered, 2>(b, params);
  if (shift >= 3) kernels::combine_pairs<ordered, 1>(b, params);
  for (int i = 0; i < 8 >> shift; ++i) {
    looped[i] = a[i];
    unrolled[i] = b[i];
  }
}

std::vector<int> combined(int shift, bool of_pairs) {
  const device gpu = device::open("simt");
  const stream s(gpu);
  buffer<int> looped(gpu, 8), unrolled(gpu, 8);
  support::launch(s, support::line(1, 1), &combine_parts, looped.data(), unrolled.data(), shift);
  std::vector<int> found(8);
  (of_pairs ? unrolled : looped).download(found, s);
  s.wait();
  found.resize(8 >> shift);
  return found;
}

TEST_CASE("literal: parts of short rows are combined with their neighbours") {
  for (const bool of_pairs : {false, true}) {
    CAPTURE(of_pairs);
    CHECK(combined(1, of_pairs) == std::vector<int>{12, 34, 56, 78});
    CHECK(combined(2, of_pairs) == std::vector<int>{120 + 34, 560 + 78});
    CHECK(combined(3, of_pairs) == std::vector<int>{10 * 154 + 638});
  }
}

}  // namespace
}  // namespace twill::simt
