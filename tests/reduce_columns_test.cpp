// Columns in whole vectors of 16 bytes: operations whose order does not matter, on numbers of the whole range.

#include <doctest/doctest.h>

#include <complex>
#include <random>
#include <type_traits>
#include <vector>

#include <twill/twill.hpp>

#include "support/backends.hpp"
#include "support/reduce_arrays.hpp"
#include "support/reduce_reference.hpp"

namespace {

using support::arrays;
using support::on_each_scratch;
using twill::reduce_op;

template <class T>
T any_number(std::mt19937& random) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::uint64_t{random()} << 32 | random());
  } else {
    return support::random_value<T>(random);
  }
}

/// Numbers whose reduction is no foregone conclusion: products of odd ones, and of the others one in `rows` that is not
/// the operation's identity.
template <class T>
T number_for(reduce_op op, std::mt19937& random, std::int64_t rows) {
  const T any = any_number<T>(random);
  const bool identity = random() % static_cast<std::uint64_t>(rows) != 0;
  if (op == reduce_op::logical_and) return support::element<T>(identity ? 1 : 0);
  if (op == reduce_op::logical_or || op == reduce_op::logical_xor) return identity ? static_cast<T>(-0.0F) : any;
  if constexpr (std::is_integral_v<T>) {
    if (op == reduce_op::product) return static_cast<T>(any | T{1});
    if (op == reduce_op::bitwise_and && identity) return static_cast<T>(~T{0});
    if (op == reduce_op::bitwise_or && identity) return T{0};
  }
  return any;
}

/// Rows of `ld` elements, all in use: what lies between rows is as any other number.
template <class T, class Out>
void check_columns(twill::stream_ref stream, const twill::raw_buffer& scratch, reduce_op op,
                   const twill::reduce_shape& shape) {
  CAPTURE(static_cast<int>(op));
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(shape.rows);
  CAPTURE(shape.cols);
  std::mt19937 random(9);
  std::vector<T> data(static_cast<std::size_t>(shape.rows * shape.ld));
  for (auto& each : data) each = number_for<T>(op, random, shape.rows);
  arrays<T, Out> a(stream, data, 0, static_cast<std::size_t>(shape.cols));
  twill::reduce_columns(stream, a.first, a.to(), shape, scratch, {op});
  const auto found = a.results();
  std::vector<T> column(static_cast<std::size_t>(shape.rows));
  for (std::int64_t c = 0; c < shape.cols; ++c) {
    CAPTURE(c);
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      column[static_cast<std::size_t>(r)] = data[static_cast<std::size_t>(r * shape.ld + c)];
    }
    const auto wanted = support::reduce_reference<T, Out>(op, column.data(), shape.rows);
    REQUIRE(support::same(found[static_cast<std::size_t>(c)], wanted));
  }
}

/// Few and many rows, one tile and several, one chunk and groups of groups; columns that end inside a vector.
template <class F>
void for_shapes(F&& f) {
  f({1, 16, 16});
  f({7, 3, 16});
  f({8, 48, 48});
  f({9, 250, 256});
  f({131, 517, 528});
  f({1100, 64, 80});
  f({5003, 31, 32});
  f({2300, 256, 256});
  f({70001, 16, 16});
}

/// Sums of numbers that round have the bits of the CPU's.
template <class T>
void check_bits(const twill::reduce_shape& shape) {
  CAPTURE(twill::name(twill::element_type_of<T>));
  std::mt19937 random(3);
  std::vector<T> data(static_cast<std::size_t>(shape.rows * shape.cols));
  for (auto& each : data) each = support::random_value<T>(random);
  const auto sums = [&](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    arrays<T, T> a(stream, data, 0, static_cast<std::size_t>(shape.cols));
    twill::reduce_columns(stream, a.first, a.to(), shape, scratch, {reduce_op::sum});
    return a.results();
  };
  const twill::stream on_cpu(twill::device::open("cpu"));
  const auto wanted = sums(on_cpu, support::reduce_scratch_of(on_cpu));
  on_each_scratch([&](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    CHECK(support::same(wanted, sums(stream, scratch)));
  });
}

/// Logical operations, and products and bitwise operations of integers.
template <class T>
void check_rare_operations(twill::stream_ref stream, const twill::raw_buffer& scratch) {
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const twill::reduce_shape shapes[] = {{7, 3, 16}, {9, 250, 256}, {131, 517, 528}, {5003, 31, 32}};
  for (const auto& shape : shapes) {
    for (const auto op : {reduce_op::logical_and, reduce_op::logical_or, reduce_op::logical_xor}) {
      check_columns<T, std::uint8_t>(stream, scratch, op, shape);
    }
    if constexpr (std::is_integral_v<T>) {
      check_columns<T, T>(stream, scratch, reduce_op::product, shape);
      check_columns<T, wide>(stream, scratch, reduce_op::product, shape);
      for (const auto op : {reduce_op::bitwise_and, reduce_op::bitwise_or, reduce_op::bitwise_xor}) {
        check_columns<T, T>(stream, scratch, op, shape);
      }
    }
  }
}

/// All operations, on all devices; and on one with many multiprocessors, for which there are more chunks.
template <class T>
void check_type() {
  using wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
  const auto check = [](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    for_shapes([&](const twill::reduce_shape& shape) {
      check_columns<T, T>(stream, scratch, reduce_op::min, shape);
      check_columns<T, T>(stream, scratch, reduce_op::max, shape);
      check_columns<T, std::int64_t>(stream, scratch, reduce_op::argmin, shape);
      check_columns<T, std::int64_t>(stream, scratch, reduce_op::argmax, shape);
      if constexpr (std::is_integral_v<T>) {
        check_columns<T, T>(stream, scratch, reduce_op::sum, shape);
        check_columns<T, wide>(stream, scratch, reduce_op::sum, shape);
      }
    });
    check_rare_operations<T>(stream, scratch);
  };
  on_each_scratch(check);
  if (!support::has_simt) return;
  const twill::stream on_many(twill::device::open("simt:h200"));
  check(on_many, support::reduce_scratch_of(on_many));
}

/// The result of equal elements, whose scratch is no more than its shape needs.
template <class T, class Out>
void check_column_scratch(const twill::device& device, twill::stream_ref stream, const twill::reduce_shape& shape,
                          reduce_op op, const Out& wanted) {
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(static_cast<int>(op));
  CAPTURE(shape.rows);
  CAPTURE(shape.cols);
  const auto out = static_cast<std::size_t>(shape.cols);
  arrays<T, Out> a(stream, std::vector<T>(static_cast<std::size_t>(shape.rows * shape.cols), T(1)), 0, out);
  const twill::reduce_options options{op};
  const auto bytes = twill::reduce_columns_scratch_bytes(device, a.first, a.to(), shape, options);
  if (shape.rows <= 64) CHECK(bytes == 0);  // one chunk
  support::check_scratch(
      stream, bytes, [&](auto scratch) { twill::reduce_columns(stream, a.first, a.to(), shape, scratch, options); });
  CHECK(a.results() == std::vector<Out>(out, wanted));
}

}  // namespace

TEST_SUITE_BEGIN("reduce");

TEST_CASE("reference: columns of integers in whole vectors") {
  check_type<std::int8_t>();
  check_type<std::uint8_t>();
  check_type<std::int16_t>();
  check_type<std::uint16_t>();
  check_type<std::int32_t>();
  check_type<std::uint32_t>();
  check_type<std::int64_t>();
  check_type<std::uint64_t>();
}

TEST_CASE("reference: the least and the largest of columns in whole vectors, and their places") {
  check_type<twill::float16>();
  check_type<twill::bfloat16>();
  check_type<float>();
  check_type<double>();
}

TEST_CASE("reference: chunks of columns by the hundred have the bits of the CPU") {
  check_bits<float>({4500, 128});
  check_bits<float>({4161, 128});
  check_bits<double>({9000, 64});
  check_bits<twill::float16>({2300, 256});
  check_bits<std::complex<double>>({4300, 40});
  check_bits<std::complex<double>>({9000, 32});
}

TEST_CASE("bounds: no byte beyond the scratch that was asked for, of columns") {
  support::on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const twill::reduce_shape& shape :
         {twill::reduce_shape{64, 300}, {2049, 1}, {2049, 16}, {9000, 7}, {9000, 48}, {100001, 4}, {1200, 257}}) {
      const auto rows = static_cast<std::int64_t>(shape.rows);
      const auto sum = static_cast<double>(rows);
      check_column_scratch<double, double>(device, stream, shape, reduce_op::sum, sum);
      check_column_scratch<std::complex<double>>(device, stream, shape, reduce_op::sum, std::complex<double>(sum));
      check_column_scratch<twill::float16, float>(device, stream, shape, reduce_op::sum, static_cast<float>(rows));
      check_column_scratch<std::uint8_t, std::uint64_t>(device, stream, shape, reduce_op::sum,
                                                        static_cast<std::uint64_t>(rows));
      check_column_scratch<std::int16_t, std::int16_t>(device, stream, shape, reduce_op::max, 1);
      check_column_scratch<float, std::int64_t>(device, stream, shape, reduce_op::argmin, 0);
      check_column_scratch<std::uint8_t, std::int64_t>(device, stream, shape, reduce_op::argmax, 0);
      check_column_scratch<std::complex<double>, std::uint8_t>(device, stream, shape, reduce_op::logical_or, 1);
    }
  });
}

TEST_CASE("the scratch of columns is at most 8 MiB, and small for few columns") {
  support::on_each_stream([](const twill::device& device, twill::stream_ref) {
    const auto bytes = [&](twill::element_type type, twill::element_type to, const twill::reduce_shape& shape,
                           reduce_op op) { return twill::reduce_columns_scratch_bytes(device, type, to, shape, {op}); };
    using type = twill::element_type;
    CHECK(bytes(type::f32, type::f32, {100000, 4}, reduce_op::sum) < 64 << 10);
    for (std::int64_t rows = 1; rows < std::int64_t{1} << 40; rows = rows * 5 / 2 + 1) {
      for (std::int64_t cols = 1; cols < (std::int64_t{1} << 55) / rows; cols = cols * 5 / 2 + 1) {
        CHECK(bytes(type::f16, type::f32, {rows, cols}, reduce_op::sum) <= 8 << 20);
        CHECK(bytes(type::c128, type::c128, {rows, cols}, reduce_op::product) <= 8 << 20);
        CHECK(bytes(type::u8, type::u64, {rows, cols}, reduce_op::sum) <= 8 << 20);
        CHECK(bytes(type::f32, type::i64, {rows, cols}, reduce_op::argmin) <= 8 << 20);
        CHECK(bytes(type::u8, type::i64, {rows, cols}, reduce_op::argmin) <= 8 << 20);
      }
    }
  });
}

// Counters, and the partial results of each level of the tree: chunks are a multiple of what a group combines.
TEST_CASE("literal: bytes of scratch for columns" * doctest::skip(!support::has_simt)) {
  const auto gpu = twill::device::open("simt:h200");
  const auto bytes = twill::reduce_columns_scratch_bytes(gpu, twill::element_type::i32, twill::element_type::i64,
                                                         {3969, 130}, {reduce_op::sum});
  CHECK(bytes == 16384 + 129024);
}

TEST_CASE("columns of one chunk need no scratch") {
  support::on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    CAPTURE(device.properties().name);
    const std::vector<float> data(16, 1.5F);
    arrays<float, float> a(stream, data, 0, 4);
    const twill::reduce_shape shape{4, 4};
    REQUIRE(twill::reduce_columns_scratch_bytes(device, a.first, a.to(), shape) == 0);
    twill::reduce_columns(stream, a.first, a.to(), shape, {});
    CHECK(a.results() == std::vector<float>(4, 6.0F));
  });
}

TEST_SUITE_END();
