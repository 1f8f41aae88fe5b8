// Matrices without gaps whose rows begin anywhere: vectors are realigned, shifted, folded or read from before the row.

#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

#include <twill/twill.hpp>

#include "support/reduce_arrays.hpp"
#include "support/reduce_reference.hpp"

namespace {

using support::arrays;
using support::on_each_scratch;
using twill::reduce_op;
using twill::reduce_shape;

/// Elements of the matrix, and of what lies around it: small integers, those at the ends of the type among them.
template <class T>
std::vector<T> numbers(std::size_t count) {
  std::mt19937 random(17);
  std::vector<T> data(count);
  for (auto& each : data) {
    each = support::element<T>(static_cast<int>(random() % 19) - (std::is_unsigned_v<T> ? 0 : 9));
    if (std::is_integral_v<T> && random() % 3 == 0) each = std::numeric_limits<T>::max();
  }
  return data;
}

/// `before` elements precede the matrix, as many follow.
template <class T, class Out>
void check(twill::stream_ref stream, const twill::raw_buffer& scratch, bool by_rows, reduce_op op,
           const reduce_shape& shape, std::size_t before) {
  CAPTURE(by_rows);
  CAPTURE(static_cast<int>(op));
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(shape.rows);
  CAPTURE(shape.cols);
  CAPTURE(before);
  const std::int64_t rows = shape.rows, cols = shape.cols, count = by_rows ? rows : cols;
  const auto data = numbers<T>(static_cast<std::size_t>(rows * cols) + 2 * before);
  arrays<T, Out> a(stream, data, 0, static_cast<std::size_t>(count));
  const auto run = by_rows ? twill::reduce_rows<T, Out> : twill::reduce_columns<T, Out>;
  run(stream, a.first + before, a.to(), shape, scratch, {op});
  const auto found = a.results();
  std::vector<T> own(static_cast<std::size_t>(by_rows ? cols : rows));
  for (std::int64_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto at = static_cast<std::int64_t>(k);
      own[k] = data[before + static_cast<std::size_t>(by_rows ? i * cols + at : at * cols + i)];
    }
    CAPTURE(i);
    const auto wanted = support::reduce_reference<T, Out>(op, own.data(), static_cast<std::int64_t>(own.size()));
    REQUIRE(support::same(found[static_cast<std::size_t>(i)], wanted));
  }
}

template <class T>
void check_operations(twill::stream_ref stream, const twill::raw_buffer& scratch, bool by_rows,
                      const reduce_shape& shape, std::size_t before) {
  check<T, T>(stream, scratch, by_rows, reduce_op::min, shape, before);
  check<T, std::int64_t>(stream, scratch, by_rows, reduce_op::argmax, shape, before);
  check<T, std::uint8_t>(stream, scratch, by_rows, reduce_op::logical_and, shape, before);
  if constexpr (std::is_integral_v<T>) {
    check<T, T>(stream, scratch, by_rows, reduce_op::sum, shape, before);
    check<T, T>(stream, scratch, by_rows, reduce_op::product, shape, before);
    check<T, T>(stream, scratch, by_rows, reduce_op::bitwise_xor, shape, before);
  }
}

/// Rows of a few lanes, of a warp, of several vectors a lane, of a block, of one chunk and of several; one row.
template <class T>
void check_rows_of(twill::stream_ref stream, const twill::raw_buffer& scratch) {
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  for (const std::int64_t length : {8, 24, 120, 528, 2000, 4104, 9000, 16376, 16392, 40040, 100008}) {
    const std::int64_t cols = length / bytes + (length < 30000 ? 1 : 0), rows = length < 600 ? 301 : 3;
    for (const std::size_t before : {std::size_t{0}, std::size_t{1}}) {
      check_operations<T>(stream, scratch, true, {rows, cols}, before);
    }
  }
  check_operations<T>(stream, scratch, true, {1, 2000000 / bytes}, 1);
}

/// Folds with and without rows that are left over; tiles that are shifted, one and several, with chunks; few rows.
template <class T>
void check_columns_of(twill::stream_ref stream, const twill::raw_buffer& scratch) {
  for (const reduce_shape& shape : {reduce_shape{2048, 3},
                                    {30011, 5},
                                    {9000, 14},
                                    {1100, 65},
                                    {131, 517},
                                    {5003, 31},
                                    {20, 9001},
                                    {2, 5003},
                                    {7, 1}}) {
    for (const std::size_t before : {std::size_t{0}, std::size_t{3}}) {
      check_operations<T>(stream, scratch, false, shape, before);
    }
  }
}

/// Of `length` elements, or rows of `cols` columns, all equal: the first is found. Then of all equal but for two
/// smaller (argmax: larger) ones: the first of these, whether they lie in one vector, in two of a thread, of a warp, of
/// a block or in two chunks.
template <class T>
void check_first_of_equal(twill::stream_ref stream, const twill::raw_buffer& scratch, reduce_op op, std::int64_t length,
                          std::int64_t cols) {
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(cols);
  const auto lowest = std::numeric_limits<T>::lowest(), highest = std::numeric_limits<T>::max();
  const bool least = op == reduce_op::argmin;
  const std::size_t row = static_cast<std::size_t>(cols), before = 3;
  const auto place_of = [&](const std::vector<T>& data) {
    arrays<T, std::int64_t> a(stream, data, before, row);
    if (cols == 1) {
      twill::reduce(stream, a.first, a.to(), length, scratch, {op});
    } else {
      twill::reduce_columns(stream, a.first, a.to(), {length, cols}, scratch, {op});
    }
    return a.results();
  };
  const std::vector<T> equal(static_cast<std::size_t>(length * cols), least ? highest : lowest);
  CHECK(place_of(equal) == std::vector<std::int64_t>(row, 0));
  for (const std::int64_t distance : {1, 2, 3, 5, 16, 17, 256, 2046, 2048, 4094, 4096, 4097, 8192, 12289, 32768}) {
    for (const std::int64_t first : {0, 14, 4099}) {
      if (first + distance >= length) continue;
      CAPTURE(first);
      CAPTURE(distance);
      auto data = equal;
      for (const std::int64_t at : {first, first + distance}) {
        std::fill_n(data.begin() + at * cols, cols, least ? lowest : highest);
      }
      CHECK(place_of(data) == std::vector<std::int64_t>(row, first));
    }
  }
}

/// Sums that round have the bits of the CPU's, wherever the matrix lies.
template <class T>
void check_bits(bool by_rows, const reduce_shape& shape) {
  CAPTURE(by_rows);
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(shape.rows);
  CAPTURE(shape.cols);
  std::mt19937 random(3);
  std::vector<T> data(static_cast<std::size_t>(shape.rows * shape.cols + 1));
  for (auto& each : data) each = support::random_value<T>(random);
  const auto sums = [&](twill::stream_ref stream, const twill::raw_buffer& scratch, std::size_t before) {
    std::vector<T> all(before, T(100));
    all.insert(all.end(), data.begin(), data.end());
    arrays<T, T> a(stream, all, 0, static_cast<std::size_t>(by_rows ? shape.rows : shape.cols));
    const auto run = by_rows ? twill::reduce_rows<T, T> : twill::reduce_columns<T, T>;
    run(stream, a.first + before, a.to(), shape, scratch, {reduce_op::sum});
    return a.results();
  };
  const twill::stream on_cpu(twill::device::open("cpu"));
  const auto wanted = sums(on_cpu, support::reduce_scratch_of(on_cpu), 0);
  on_each_scratch([&](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    for (const std::size_t before : {std::size_t{0}, std::size_t{1}}) {
      CAPTURE(before);
      CHECK(support::same(wanted, sums(stream, scratch, before)));
    }
  });
}

template <class T>
void check_all_bits() {
  for (const reduce_shape& shape : {reduce_shape{2048, 3}, {70003, 5}, {4500, 33}, {131, 517}, {3000, 301}}) {
    check_bits<T>(false, shape);
  }
  for (const reduce_shape& shape : {reduce_shape{301, 7}, {301, 131}, {9, 1001}, {5, 3001}, {3, 9001}, {2, 30011}}) {
    check_bits<T>(true, shape);
  }
}

/// Sums with as much scratch as was asked for.
template <class T>
void check_scratch(const twill::device& device, twill::stream_ref stream, const reduce_shape& shape) {
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(shape.rows);
  CAPTURE(shape.cols);
  const std::vector<T> ones(static_cast<std::size_t>(shape.rows * shape.cols + 3), support::element<T>(1));
  arrays<T, T> a(stream, ones, 0, static_cast<std::size_t>(shape.cols));
  const auto bytes = twill::reduce_columns_scratch_bytes(device, a.first, a.to(), shape);
  support::check_scratch(stream, bytes,
                         [&](auto scratch) { twill::reduce_columns(stream, a.first + 3, a.to(), shape, scratch); });
  const auto wanted = support::element<T>(static_cast<int>(shape.rows));
  CHECK(support::same(a.results(), std::vector<T>(static_cast<std::size_t>(shape.cols), wanted)));
}

}  // namespace

TEST_SUITE_BEGIN("reduce");

TEST_CASE_TEMPLATE("reference: rows and columns that begin anywhere", T, std::uint8_t, std::int16_t, twill::float16,
                   float, std::uint64_t) {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    check_rows_of<T>(stream, scratch);
    check_columns_of<T>(stream, scratch);
  });
}

TEST_CASE_TEMPLATE("reference: the first of equal extremes", T, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t,
                   std::int32_t) {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    for (const auto op : {reduce_op::argmin, reduce_op::argmax}) {
      check_first_of_equal<T>(stream, scratch, op, 70001, 1);
      check_first_of_equal<T>(stream, scratch, op, 9001, 16);
      check_first_of_equal<T>(stream, scratch, op, 4201, 19);
    }
  });
}

TEST_CASE("reference: sums of rows and columns that begin anywhere have the bits of the CPU") {
  check_all_bits<twill::float16>();
  check_all_bits<float>();
  check_all_bits<double>();
  check_all_bits<std::complex<float>>();
}

TEST_CASE("reference: few rows of very many columns") {
  check_bits<twill::float16>(false, {9, 530000});
  check_bits<twill::float16>(false, {9, 530001});
  check_bits<float>(false, {3, 300001});
  check_bits<float>(false, {3, 300000});
  check_bits<double>(false, {3, 262144});  // tiles of one part
  check_bits<twill::float16>(false, {2, 1100001});
  check_bits<twill::float16>(false, {14, 530000});
  check_bits<twill::float16>(false, {30, 530000});  // of more
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    for (const std::int64_t cols : {530000, 530001}) {
      check<std::uint8_t, std::uint64_t>(stream, scratch, false, reduce_op::sum, {9, cols}, 0);
      check<std::uint8_t, std::int64_t>(stream, scratch, false, reduce_op::argmin, {5, cols}, 0);
    }
  });
}

TEST_CASE("reference: no rows of columns that begin anywhere") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    for (const std::int64_t cols : {3, 300001}) {
      arrays<std::uint8_t, std::uint8_t> a(stream, {}, 0, static_cast<std::size_t>(cols));
      const std::uint8_t* nothing = nullptr;
      twill::reduce_columns(stream, nothing, a.to(), {0, cols}, scratch, {reduce_op::bitwise_and});
      CHECK(a.results() == std::vector<std::uint8_t>(static_cast<std::size_t>(cols), 0xff));
    }
  });
}

TEST_CASE("bounds: no byte beyond the scratch that was asked for, of columns that begin anywhere") {
  support::on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const reduce_shape& shape : {reduce_shape{525, 1995}, {8001, 257}, {2049, 1001}, {30001, 37}, {100003, 5}}) {
      check_scratch<float>(device, stream, shape);
      check_scratch<double>(device, stream, shape);
      check_scratch<std::uint16_t>(device, stream, shape);
    }
  });
}

TEST_SUITE_END();
