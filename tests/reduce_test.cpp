#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <random>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/backends.hpp"
#include "support/reduce_arrays.hpp"
#include "support/reduce_reference.hpp"

namespace {

using support::arrays;
using support::check_scratch;
using support::element;
using support::is_complex;
using support::is_half;
using support::on_each_scratch;
using support::on_each_stream;
using support::same;
using twill::reduce_op;

template <class T>
std::vector<T> small_numbers(std::int64_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> list(static_cast<std::size_t>(count));
  for (auto& each : list) {
    each = element<T>(std::is_unsigned_v<T> ? static_cast<int>(random() % 5) : static_cast<int>(random() % 5) - 2);
  }
  return list;
}

template <class T, class Out>
void check_shape(twill::stream_ref stream, const twill::raw_buffer& scratch, reduce_op op,
                 const twill::reduce_shape& shape, std::size_t misalignment) {
  const std::int64_t ld = shape.ld == 0 ? shape.cols : shape.ld;
  const auto data = small_numbers<T>(shape.rows * ld);
  CAPTURE(static_cast<int>(op));
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(shape.rows);
  CAPTURE(shape.cols);
  CAPTURE(ld);
  CAPTURE(misalignment);
  const bool place = op == reduce_op::argmin || op == reduce_op::argmax;
  if (shape.cols > 0 || !place) {
    arrays<T, Out> a(stream, data, misalignment, static_cast<std::size_t>(shape.rows));
    twill::reduce_rows(stream, a.first, a.to(), shape, scratch, {op});
    const auto found = a.results();
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      const auto expected = support::reduce_reference<T, Out>(op, data.data() + r * ld, shape.cols);
      REQUIRE(same(found[static_cast<std::size_t>(r)], expected));
    }
  }
  if (shape.rows == 0 && place) return;
  arrays<T, Out> a(stream, data, misalignment, static_cast<std::size_t>(shape.cols));
  twill::reduce_columns(stream, a.first, a.to(), shape, scratch, {op});
  const auto found = a.results();
  std::vector<T> column(static_cast<std::size_t>(shape.rows));
  for (std::int64_t c = 0; c < shape.cols; ++c) {
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      column[static_cast<std::size_t>(r)] = data[static_cast<std::size_t>(r * ld + c)];
    }
    REQUIRE(same(found[static_cast<std::size_t>(c)], support::reduce_reference<T, Out>(op, column.data(), shape.rows)));
  }
}

/// Products of integers are exact in floating point only where no column and row is long: the others have 1 and
/// -1.
template <class T, class Out>
void check_op(twill::stream_ref stream, const twill::raw_buffer& scratch, reduce_op op) {
  const bool rounds = op == reduce_op::product && !std::is_integral_v<T>;
  check_shape<T, Out>(stream, scratch, op, {3, 0, 0}, 0);
  check_shape<T, Out>(stream, scratch, op, {0, 3, 0}, 0);
  check_shape<T, Out>(stream, scratch, op, {1, 1, 0}, 1);
  check_shape<T, Out>(stream, scratch, op, {5, 3, 4}, 0);
  if (rounds) return;
  check_shape<T, Out>(stream, scratch, op, {9, 65, 0}, 1);
  check_shape<T, Out>(stream, scratch, op, {2, 4 * 16 + 3, 80}, 0);
  // Several chunks of rows, in one tile and in many.
  check_shape<T, Out>(stream, scratch, op, {2500, 3, 0}, 0);
  check_shape<T, Out>(stream, scratch, op, {140, 70, 71}, 1);
}

template <class T>
void check_type(twill::stream_ref stream, const twill::raw_buffer& scratch) {
  using wide =
      std::conditional_t<std::is_integral_v<T>, std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                         std::conditional_t<is_half<T>, float, T>>;
  for (const auto op : {reduce_op::sum, reduce_op::product}) {
    check_op<T, T>(stream, scratch, op);
    check_op<T, wide>(stream, scratch, op);
  }
  for (const auto op : {reduce_op::logical_and, reduce_op::logical_or, reduce_op::logical_xor}) {
    check_op<T, std::uint8_t>(stream, scratch, op);
  }
  if constexpr (!is_complex<T>) {
    for (const auto op : {reduce_op::min, reduce_op::max}) check_op<T, T>(stream, scratch, op);
    for (const auto op : {reduce_op::argmin, reduce_op::argmax}) check_op<T, std::int64_t>(stream, scratch, op);
  }
  if constexpr (std::is_integral_v<T>) {
    for (const auto op : {reduce_op::bitwise_and, reduce_op::bitwise_or, reduce_op::bitwise_xor}) {
      check_op<T, T>(stream, scratch, op);
    }
  }
}

}  // namespace

TEST_SUITE_BEGIN("reduce");

TEST_CASE("literal: the examples of the header") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    arrays<float, float> a(stream, {1, 2, 3, 4, 5, 6}, 0, 6);
    twill::reduce(stream, a.first, a.to(), 3, scratch, {reduce_op::sum});
    twill::reduce_rows(stream, a.first, a.to() + 1, {2, 3}, scratch, {reduce_op::sum});
    twill::reduce_columns(stream, a.first, a.to() + 3, {2, 3}, scratch, {reduce_op::sum});
    CHECK(a.results() == std::vector<float>{6, 6, 15, 5, 7, 9});
    arrays<float, std::int64_t> place(stream, {1, 2, 3}, 0, 1);
    twill::reduce(stream, place.first, place.to(), 3, scratch, {reduce_op::argmax});
    CHECK(place.results()[0] == 2);
  });
}

TEST_CASE("reference: every operation and type, rows and columns") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    check_type<std::int8_t>(stream, scratch);
    check_type<std::int16_t>(stream, scratch);
    check_type<std::int32_t>(stream, scratch);
    check_type<std::int64_t>(stream, scratch);
    check_type<std::uint8_t>(stream, scratch);
    check_type<std::uint16_t>(stream, scratch);
    check_type<std::uint32_t>(stream, scratch);
    check_type<std::uint64_t>(stream, scratch);
    check_type<twill::float16>(stream, scratch);
    check_type<twill::bfloat16>(stream, scratch);
    check_type<float>(stream, scratch);
    check_type<double>(stream, scratch);
    check_type<std::complex<float>>(stream, scratch);
    check_type<std::complex<double>>(stream, scratch);
  });
}

TEST_CASE("reference: shapes around vectors, warps, chunks and tasks") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    for (const std::int64_t cols : {1, 4, 5, 16, 17, 127, 128, 129, 1023, 1024, 1025, 8191, 8192, 8193, 20000}) {
      check_shape<float, float>(stream, scratch, reduce_op::sum, {3, cols, 0}, 0);
      check_shape<float, std::int64_t>(stream, scratch, reduce_op::argmax, {1, cols, 0}, 1);
    }
    for (const std::int64_t rows : {63, 64, 65, 2048, 2049, 5000}) {
      check_shape<float, float>(stream, scratch, reduce_op::sum, {rows, 3, 0}, 0);
      check_shape<double, std::int64_t>(stream, scratch, reduce_op::argmin, {rows, 9, 12}, 1);
    }
    // Columns whose chunks are combined in groups, and those in groups again; few rows of many columns.
    check_shape<float, float>(stream, scratch, reduce_op::sum, {1100, 130, 0}, 0);
    check_shape<twill::float16, float>(stream, scratch, reduce_op::sum, {600, 257, 0}, 1);
    check_shape<std::int32_t, std::int64_t>(stream, scratch, reduce_op::argmin, {300, 130, 0}, 0);
    check_shape<std::uint8_t, std::uint8_t>(stream, scratch, reduce_op::max, {300, 300, 0}, 0);
    check_shape<float, float>(stream, scratch, reduce_op::sum, {9, 3000, 0}, 0);
    check_shape<std::uint8_t, std::uint64_t>(stream, scratch, reduce_op::sum, {1, 70000, 0}, 3);
    check_shape<std::int32_t, std::int32_t>(stream, scratch, reduce_op::sum, {1, 300000, 0}, 0);
    for (const auto op : {reduce_op::logical_and, reduce_op::logical_or, reduce_op::logical_xor}) {
      check_shape<std::uint8_t, std::uint8_t>(stream, scratch, op, {2, 700001, 0}, 1);
      check_shape<std::int32_t, std::uint8_t>(stream, scratch, op, {3, 200001, 0}, 0);
    }
  });
}

TEST_CASE("bounds: no byte beyond the scratch that was asked for") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    using complex = std::complex<double>;
    for (const std::int64_t rows : {1, 3, 200}) {
      for (const std::int64_t cols : {1, 2048, 2049, 5000, 70000}) {
        if (rows * cols > 500000) continue;
        CAPTURE(rows);
        CAPTURE(cols);
        const twill::reduce_shape shape{rows, cols};
        const auto out = static_cast<std::size_t>(rows);
        arrays<complex, complex> sums(stream, std::vector<complex>(static_cast<std::size_t>(rows * cols), {1, 2}), 0,
                                      out);
        const auto sum = twill::reduce_rows_scratch_bytes(device, sums.first, sums.to(), shape);
        CHECK((sum == 0) == (cols <= 2048));
        check_scratch(stream, sum,
                      [&](auto scratch) { twill::reduce_rows(stream, sums.first, sums.to(), shape, scratch); });
        const auto length = static_cast<double>(cols);
        CHECK(sums.results() == std::vector<complex>(out, complex(length, 2 * length)));
        arrays<double, std::int64_t> places(stream, std::vector<double>(static_cast<std::size_t>(rows * cols), 4), 0,
                                            out);
        const twill::reduce_options least{reduce_op::argmin};
        check_scratch(
            stream, twill::reduce_rows_scratch_bytes(device, places.first, places.to(), shape, least),
            [&](auto scratch) { twill::reduce_rows(stream, places.first, places.to(), shape, scratch, least); });
        CHECK(places.results() == std::vector<std::int64_t>(out, 0));
      }
    }
  });
}

/// More blocks than the first GPUs could have side by side, of each kind of kernel: a few results are compared.
TEST_CASE("bounds: grids beyond 65535 blocks side by side" * doctest::skip(!support::has_simt)) {
  const auto device = twill::device::open("simt:gtx280");
  const twill::stream stream(device);
  const twill::raw_buffer scratch = support::reduce_scratch_of(stream);
  const std::int64_t columns = 65536 * 128 + 3, segments = 65536 * 8 + 3, rows = 65537, cols = 4097;
  twill::raw_buffer in(device, static_cast<std::size_t>(rows * cols));
  twill::fill_bytes(stream, in.data(), 1, in.size_bytes());
  const auto* bytes = static_cast<const std::uint8_t*>(in.data());
  const auto check = [&](const char* what, std::int64_t count, std::uint8_t wanted, auto&& run) {
    CAPTURE(what);
    twill::buffer<std::uint8_t> out(device, static_cast<std::size_t>(count));
    twill::fill_bytes(stream, out.data(), 0x5a, out.size_bytes());
    run(out.data());
    std::vector<std::uint8_t> found(out.size());
    out.download(found, stream);
    stream.wait();
    CHECK(std::count(found.begin(), found.end(), wanted) == count);
  };
  check("columns", columns, 1,
        [&](auto* out) { twill::reduce_columns(stream, bytes, out, {1, columns}, scratch, {reduce_op::sum}); });
  check("long rows", rows, cols % 256,
        [&](auto* out) { twill::reduce_rows(stream, bytes, out, {rows, cols}, scratch, {reduce_op::sum}); });
  check("segments", segments, 3, [&](auto* out) {
    std::vector<std::int64_t> places(segments + 1);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::int64_t>(3 * i);
    twill::buffer<std::int64_t> offsets(device, places.size());
    offsets.upload(places, stream);
    twill::reduce_segments(stream, bytes, out, offsets.data(), segments, scratch, {reduce_op::sum});
    stream.wait();
  });
}

TEST_CASE("bounds: 2^24 blocks, on GPUs with the memory for it") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    const std::int64_t columns = (std::int64_t{1} << 31) + 77;
    if (!stream.on().properties().is_gpu || stream.on().memory().free_bytes < std::size_t{8} << 30) return;
    const twill::raw_buffer in(stream.on(), static_cast<std::size_t>(columns));
    twill::buffer<std::uint8_t> out(stream.on(), static_cast<std::size_t>(columns));
    twill::fill_bytes(stream, in.data(), 3, in.size_bytes());
    twill::fill_bytes(stream, out.data(), 0, out.size_bytes());
    const auto* bytes = static_cast<const std::uint8_t*>(in.data());
    twill::reduce_columns(stream, bytes, out.data(), {1, columns}, scratch, {reduce_op::sum});
    std::vector<std::uint8_t> found(out.size());
    out.download(found, stream);
    stream.wait();
    CHECK(std::count(found.begin(), found.end(), 3) == columns);
  });
}

TEST_CASE("bounds: a view's last row ends where its columns end") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    std::vector<float> data(32 + 4);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
    twill::buffer<float> memory(stream.on(), data.size());
    memory.upload(data, stream);
    // Columns 4 to 7, and then 0 to 3, whose gap after the last row has the results.
    twill::reduce_rows(stream, memory.data() + 4, memory.data() + 32, {4, 4, 8}, scratch, {reduce_op::sum});
    twill::reduce_columns(stream, memory.data(), memory.data() + 28, {4, 4, 8}, scratch, {reduce_op::sum});
    CHECK_THROWS_AS(
        twill::reduce_rows(stream, memory.data() + 4, memory.data() + 31, {4, 4, 8}, scratch, {reduce_op::sum}),
        twill::error);
    memory.download(data, stream);
    stream.wait();
    CHECK(std::vector<float>(data.begin() + 28, data.end()) == std::vector<float>{48, 52, 56, 60, 22, 54, 86, 118});
  });
}

TEST_CASE("errors: of segments") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    twill::buffer<std::int64_t> memory(stream.on(), 64);
    const auto* in = memory.data();
    const auto* offsets = memory.data() + 16;  // 9 of them
    const auto refused = [&](std::int64_t* out, std::int64_t segments) {
      try {
        twill::reduce_segments(stream, in, out, offsets, segments, scratch, {reduce_op::sum});
      } catch (const twill::error& e) {
        return e.code() == twill::errc::invalid_argument;
      }
      return false;
    };
    memory.upload(std::vector<std::int64_t>(64), stream);
    CHECK(refused(memory.data() + 9, 8));
    CHECK(refused(memory.data() + 24, 8));
    CHECK_FALSE(refused(memory.data() + 8, 8));
    CHECK_FALSE(refused(memory.data() + 25, 8));
    CHECK(refused(nullptr, 8));
    CHECK(refused(memory.data() + 32, -1));
    CHECK(refused(memory.data() + 32, INT64_MAX));
    CHECK(refused(memory.data() + 32, INT64_MAX / 8));
    // Without elements there need not be an array: as many results as segments, and all are 0.
    twill::fill_bytes(stream, memory.data() + 32, 0x5a, 9 * sizeof(std::int64_t));
    twill::reduce_segments(stream, static_cast<const std::int64_t*>(nullptr), memory.data() + 32, offsets, 8, scratch,
                           {reduce_op::sum});
    std::vector<std::int64_t> found(64);
    memory.download(found, stream);
    stream.wait();
    CHECK(std::vector<std::int64_t>(found.begin() + 32, found.begin() + 40) == std::vector<std::int64_t>(8, 0));
    CHECK(found[40] == 0x5a5a5a5a5a5a5a5a);
  });
}

TEST_CASE("errors: the same on every device") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    twill::buffer<double> memory(stream.on(), 8192);
    auto* in = memory.data();
    auto* out = in + 8000;
    twill::fill_bytes(stream, in, 0, 8000 * sizeof *in);
    using type = twill::element_type;
    const auto code = [&](reduce_op op, const void* from, type in_type, void* to, type out_type,
                          const twill::reduce_shape& shape) {
      try {
        twill::reduce_rows_untyped(stream, from, to, in_type, out_type, shape, scratch, {op});
      } catch (const twill::error& e) {
        return e.code() == twill::errc::invalid_argument;
      }
      return false;
    };
    CHECK_THROWS_WITH_AS(twill::reduce(stream, in, out, -1, scratch, {reduce_op::sum}),
                         "reduce: the number of elements is negative (it is -1) give 0 or more", twill::error);
    CHECK(code(reduce_op::sum, in, type::f32, out, type::f64, {1, 9}));
    CHECK(code(reduce_op::argmin, in, type::f32, out, type::f32, {1, 9}));
    CHECK(code(reduce_op::min, in, type::c64, out, type::c64, {1, 9}));
    CHECK(code(reduce_op::bitwise_or, in, type::f32, out, type::f32, {1, 9}));
    CHECK(code(reduce_op::logical_or, in, type::f32, out, type::f32, {1, 9}));
    CHECK(code(reduce_op::argmin, in, type::f32, out, type::i64, {3, 0}));
    CHECK(code(reduce_op::sum, in, type::f32, out, type::f32, {-1, 9}));
    CHECK(code(reduce_op::sum, in, type::f32, out, type::f32, {1, -9}));
    CHECK(code(reduce_op::sum, in, type::f32, out, type::f32, {INT64_MAX / 2, 9}));
    CHECK(code(reduce_op::sum, in, type::f32, out, type::f32, {2, 9, 8}));
    CHECK(code(reduce_op::sum, nullptr, type::f32, out, type::f32, {1, 9}));
    CHECK(code(reduce_op::sum, in, type::f32, nullptr, type::f32, {1, 9}));
    CHECK(code(reduce_op::sum, in, type::f32, in + 1, type::f32, {1, 9}));
    CHECK(code(reduce_op::sum, reinterpret_cast<char*>(in) + 2, type::f32, out, type::f32, {1, 9}));
    CHECK(code(reduce_op::sum, reinterpret_cast<char*>(in) + 8, type::c128, out, type::c128, {1, 9}));
    // Rows of more than 32 KiB need scratch.
    CHECK(code(reduce_op::sum, in, type::f32, scratch.data(), type::f32, {1, 9000}));
    CHECK(code(reduce_op::sum, scratch.data(), type::f32, out, type::f32, {1, 9000}));
    const auto with = [&](twill::scratch_ref memory) {
      try {
        twill::reduce(stream, in, out, 5000, memory);
      } catch (const twill::error& e) {
        return e.code() == twill::errc::invalid_argument;
      }
      return false;
    };
    CHECK(with({scratch.data(), 100}));
    CHECK(with({nullptr, scratch.size_bytes()}));
    CHECK(with({static_cast<char*>(scratch.data()) + 8, scratch.size_bytes()}));
    CHECK_FALSE(with(scratch));
  });
}

TEST_SUITE_END();
