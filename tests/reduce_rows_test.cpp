// Many short rows of whole vectors of 16 bytes: a warp, or a block, has several of them.

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

#include <twill/twill.hpp>

#include "support/reduce_arrays.hpp"

namespace {

using support::arrays;
using support::on_each_scratch;
using support::random_value;
using twill::reduce_op;

/// Rows of so many vectors, and `gap` more between them, that lie in the middle of numbers.
template <class T>
std::vector<T> results_of(twill::stream_ref stream, const twill::raw_buffer& scratch, std::int64_t rows,
                          std::int64_t vectors, std::int64_t gap) {
  const auto a_vector = static_cast<std::int64_t>(16 / sizeof(T));
  const std::int64_t cols = vectors * a_vector, ld = cols + gap * a_vector;
  std::mt19937 random(5);
  std::vector<T> data(static_cast<std::size_t>(rows * ld + a_vector));
  for (auto& each : data) each = random_value<T>(random);
  arrays<T, T> a(stream, data, 0, static_cast<std::size_t>(rows));
  twill::reduce_rows(stream, a.first + a_vector, a.to(), {rows, cols, ld}, scratch, {reduce_op::sum});
  return a.results();
}

void check_places(twill::stream_ref stream, const twill::raw_buffer& scratch, std::int64_t rows, std::int64_t vectors) {
  const std::int64_t cols = 16 * vectors;
  std::mt19937 random(6);
  std::vector<std::uint8_t> data(static_cast<std::size_t>(rows * cols));
  for (auto& each : data) each = static_cast<std::uint8_t>(random() % 20);
  arrays<std::uint8_t, std::int64_t> a(stream, data, 0, static_cast<std::size_t>(rows));
  twill::reduce_rows(stream, a.first, a.to(), {rows, cols}, scratch, {reduce_op::argmax});
  const auto found = a.results();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = data.begin() + r * cols;
    CHECK(found[static_cast<std::size_t>(r)] == std::max_element(row, row + cols) - row);
  }
}

/// Calls f with numbers of rows around those of a lane, a warp and a block, and vectors around those of lanes.
template <class F>
void for_shapes(F&& f) {
  for (const std::int64_t vectors :
       {1, 2, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 64, 65, 100, 128, 129, 255, 256, 257, 511, 512, 700, 1024, 1025}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 17, 33, 129, 300, 2050}) {
      if (rows > 9 && rows * vectors > 5200) continue;
      CAPTURE(vectors);
      CAPTURE(rows);
      f(rows, vectors);
    }
  }
}

/// Those of the CPU, which knows no lanes.
template <class T>
void check_short_rows() {
  CAPTURE(twill::name(twill::element_type_of<T>));
  const twill::stream on_cpu(twill::device::open("cpu"));
  const twill::raw_buffer cpu_scratch = support::reduce_scratch_of(on_cpu);
  std::vector<std::vector<T>> wanted;
  for_shapes([&](std::int64_t rows, std::int64_t vectors) {
    wanted.push_back(results_of<T>(on_cpu, cpu_scratch, rows, vectors, rows % 2));
  });
  on_each_scratch([&](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    auto shape = wanted.begin();
    for_shapes([&](std::int64_t rows, std::int64_t vectors) {
      REQUIRE(support::same(*shape++, results_of<T>(stream, scratch, rows, vectors, rows % 2)));
    });
  });
}

}  // namespace

TEST_SUITE_BEGIN("reduce");

TEST_CASE("reference: short rows of whole vectors have the bits of the CPU") {
  check_short_rows<float>();
  check_short_rows<twill::float16>();
  check_short_rows<std::complex<double>>();
}

TEST_CASE("reference: the places of the largest in short rows of whole vectors") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    for_shapes([&](std::int64_t rows, std::int64_t vectors) { check_places(stream, scratch, rows, vectors); });
  });
}

TEST_SUITE_END();
