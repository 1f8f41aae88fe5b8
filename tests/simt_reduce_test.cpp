// Code of reductions that other devices than simulated ones choose.

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include <twill/buffer.hpp>

#include "support/simt_launch.hpp"

#include "reduce/gpu/order_keys.hpp"
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

// Against a loop, of random keys among few, so that many are equal: the first of the smallest keys, by vector and then
// by element.
template <class Unit, bool Numbered, int Bits>
void check_packed_minima(unsigned seed) {
  CAPTURE(sizeof(Unit));
  CAPTURE(Numbered);
  CAPTURE(Bits);
  const int vectors = 1 + static_cast<int>(seed % 8);
  CAPTURE(vectors);
  CAPTURE(seed);
  using minima = kernels::packed_minima<Unit, Numbered, Bits>;
  constexpr int count = 16 / sizeof(Unit);
  std::mt19937 random(seed);
  Unit keys[8][count];
  minima found{};
  for (int i = 0; i < vectors; ++i) {
    for (Unit& key : keys[i]) {
      const auto bits = static_cast<unsigned>(random());
      key = static_cast<Unit>(bits % 3 == 0 ? bits >> 31 : bits % 3 == 1 ? bits >> 16 : (bits >> 30) << 8);
    }
    word16 vector;
    std::memcpy(&vector, keys[i], sizeof vector);
    found.add(i, vector);
  }
  const auto check = [&](std::uint32_t field, int i, int e) {
    CHECK(minima::key(field) == keys[i][e]);
    if (!Numbered) return;
    CHECK(minima::vector(field) == i);
  };
  int first = 0, first_element = 0;
  for (int e = 0; e < count; ++e) {
    int best = 0;
    for (int i = 1; i < vectors; ++i) best = keys[i][e] < keys[best][e] ? i : best;
    check(found.of_element(e), best, e);
    const auto least = keys[first][first_element], own = keys[best][e];
    if (own < least || (own == least && best < first)) first = best, first_element = e;
  }
  check(found.overall(), first, first_element);
  if (Numbered) CHECK(minima::element(found.overall()) == first_element);
}

TEST_CASE("the first of the smallest packed keys is found, in fields of 16 and of 32 bits") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    check_packed_minima<std::uint8_t, true, 16>(seed);
    check_packed_minima<std::uint8_t, true, 32>(seed);
    check_packed_minima<std::uint8_t, false, 16>(seed);
    check_packed_minima<std::uint8_t, false, 32>(seed);
    check_packed_minima<std::uint16_t, true, 32>(seed);
    check_packed_minima<std::uint16_t, false, 16>(seed);
    check_packed_minima<std::uint16_t, false, 32>(seed);
  }
}

}  // namespace
}  // namespace twill::simt
