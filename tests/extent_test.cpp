#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <twill/twill.hpp>

TEST_SUITE_BEGIN("extent");

TEST_CASE("literal: shapes take any integer type, and setters the rest by name") {
  const volatile std::size_t some = 3;
  const std::size_t rows = some, cols = some + 1;
  const unsigned short batch = 8;
  const twill::transpose_shape shape = twill::transpose_shape{rows, cols}.with_batch(batch).with_in_ld(128u);
  CHECK(shape.rows == 3);
  CHECK(shape.cols == 4);
  CHECK(shape.batch == 8);
  CHECK(shape.in_ld == 128);
  CHECK(shape.out_ld == 0);
  CHECK(twill::copy_shape{rows, cols}.with_out_ld(9).out_ld == 9);
  CHECK(twill::scan_shape{rows, cols}.with_in_ld(9).in_ld == 9);
  CHECK(twill::reduce_shape{rows, cols}.with_ld(9).ld == 9);
  CHECK(twill::transpose_in_place_shape{rows, rows}.with_batch(2).with_ld(5).with_stride(50).stride == 50);
  const twill::permute_shape permuted{{rows, cols}, {1, 0}};
  CHECK(permuted.extents[1] == 4);
  CHECK(permuted.with_out_strides({7, 1}).out_strides[0] == 7);
}

TEST_CASE("errors: numbers beyond 63 bits") {
  const volatile std::uint64_t large = std::uint64_t{1} << 63;
  CHECK_THROWS_WITH_AS(
      twill::extent(std::uint64_t{large}),
      "extent: the number is too large (9223372036854775808 overflows a 64-bit signed integer) give a smaller one",
      twill::error);
  CHECK(twill::extent(large - 1) == std::numeric_limits<std::int64_t>::max());
  CHECK(twill::extent(-3) == -3);
}

// Only integers: a floating-point number or a flag is a mistake.
static_assert(!std::is_constructible<twill::extent, double>::value, "");
static_assert(!std::is_constructible<twill::extent, bool>::value, "");
static_assert(std::is_aggregate<twill::transpose_shape>::value, "designated initialisers of C++20 need that");

TEST_SUITE_END();
