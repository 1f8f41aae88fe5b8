// The bits of reductions whose steps round: which tree combines the elements, and which NaN comes out.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <twill/twill.hpp>

#include "support/backends.hpp"
#include "support/reduce_arrays.hpp"
#include "support/reduce_reference.hpp"

namespace {

using support::arrays;
using support::on_each_scratch;
using support::random_value;
using support::same;
using twill::reduce_op;

/// Bytes of a result, for comparing devices.
template <class T>
std::vector<T> bits_of_sums(twill::stream_ref stream, const twill::raw_buffer& scratch, const std::vector<T>& data) {
  const auto count = static_cast<std::int64_t>(data.size());
  const std::int64_t cols = 37, rows = count / cols;
  arrays<T, T> a(stream, data, 0, static_cast<std::size_t>(2 + rows + cols));
  twill::reduce(stream, a.first, a.to(), count, scratch, {reduce_op::sum});
  twill::reduce(stream, a.first, a.to() + 1, count, scratch, {reduce_op::product});
  twill::reduce_rows(stream, a.first, a.to() + 2, {rows, cols, 0}, scratch, {reduce_op::sum});
  twill::reduce_columns(stream, a.first, a.to() + 2 + rows, {rows, cols, 0}, scratch, {reduce_op::sum});
  return a.results();
}

template <class T>
void check_same_on_all_devices(std::int64_t count) {
  std::mt19937 random(7);
  std::vector<T> data(static_cast<std::size_t>(count));
  for (auto& each : data) each = random_value<T>(random);
  std::vector<T> first;
  on_each_scratch([&](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    const auto found = bits_of_sums(stream, scratch, data);
    if (first.empty()) first = found;
    CHECK(support::same(first, found));
  });
}

/// A number near 1: products of many neither overflow nor underflow.
template <class T>
T number_near_one(std::mt19937& random) {
  const float x = 1 + (static_cast<float>(random() % 2001) - 1000.0f) * 0x1p-15f;
  return T(x);
}

/// `values` in rows of `cols` elements that begin `ld` elements after each other.
template <class T>
std::vector<T> with_gaps(const std::vector<T>& values, std::int64_t cols, std::int64_t ld) {
  const std::int64_t rows = static_cast<std::int64_t>(values.size()) / cols;
  std::vector<T> data(static_cast<std::size_t>(rows * ld));
  for (std::int64_t r = 0; r < rows; ++r) {
    std::copy_n(values.begin() + r * cols, cols, data.begin() + r * ld);
  }
  return data;
}

/// Rows and columns of a matrix without alignment have the bits of `reduce` of each row and of an aligned matrix.
template <class T>
std::vector<T> check_place(twill::stream_ref stream, const twill::raw_buffer& scratch, reduce_op op,
                           const std::vector<T>& values, std::int64_t cols) {
  const std::int64_t rows = static_cast<std::int64_t>(values.size()) / cols, pitch = (cols + 15) / 16 * 16;
  const auto results = static_cast<std::size_t>(rows + cols);
  arrays<T, T> moved(stream, with_gaps(values, cols, cols + 1), 1, results);
  arrays<T, T> straight(stream, with_gaps(values, cols, pitch), 0, results);
  twill::reduce_rows(stream, moved.first, moved.to(), {rows, cols, cols + 1}, scratch, {op});
  twill::reduce_columns(stream, moved.first, moved.to() + rows, {rows, cols, cols + 1}, scratch, {op});
  for (std::int64_t r = 0; r < rows; ++r) {
    twill::reduce(stream, straight.first + r * pitch, straight.to() + r, cols, scratch, {op});
  }
  twill::reduce_columns(stream, straight.first, straight.to() + rows, {rows, cols, pitch}, scratch, {op});
  const auto found = moved.results(), wanted = straight.results();
  CAPTURE(twill::name(twill::element_type_of<T>));
  CAPTURE(rows);
  CAPTURE(cols);
  for (std::size_t i = 0; i < results; ++i) {
    CAPTURE(i);
    REQUIRE(same(found[i], wanted[i]));
  }
  return found;
}

template <class T>
void check_places(std::int64_t rows, std::int64_t cols) {
  std::mt19937 random(11);
  std::vector<T> terms(static_cast<std::size_t>(rows * cols)), factors(terms.size());
  for (auto& each : terms) each = random_value<T>(random);
  for (auto& each : factors) each = number_near_one<T>(random);
  std::vector<T> first;
  on_each_scratch([&](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    auto found = check_place(stream, scratch, reduce_op::sum, terms, cols);
    const auto products = check_place(stream, scratch, reduce_op::product, factors, cols);
    found.insert(found.end(), products.begin(), products.end());
    if (first.empty()) first = found;
    CHECK(support::same(first, found));
  });
}

/// Rows as long as lanes, a warp and a chunk have them, one element more or less; long columns.
template <class T>
void check_all_places() {
  for (const std::int64_t bytes : {512, 4096, 32768}) {
    const std::int64_t cols = bytes / static_cast<std::int64_t>(sizeof(T));
    for (const std::int64_t more : {-1, 0, 1}) check_places<T>(2, cols + more);
  }
  check_places<T>(2500, 3);
  check_places<T>(140, 70);
}

/// The sums of columns, against those in long double, within the bound of the doc comment.
template <class T>
void check_column_bounds(twill::stream_ref stream, const twill::raw_buffer& scratch, const std::vector<T>& data,
                         std::int64_t cols) {
  const std::int64_t rows = static_cast<std::int64_t>(data.size()) / cols;
  const std::int64_t vectors = rows * ((cols * static_cast<std::int64_t>(sizeof(T)) + 15) / 16);
  const double d = std::ceil(std::log2(static_cast<double>(rows))) + 10 + static_cast<double>(vectors) * 0x1p-21;
  arrays<T, float> a(stream, data, 0, static_cast<std::size_t>(cols));
  twill::reduce_columns(stream, a.first, a.to(), {rows, cols}, scratch, {reduce_op::sum});
  const auto found = a.results();
  CAPTURE(cols);
  for (std::int64_t c = 0; c < cols; ++c) {
    long double exact = 0, magnitude = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto x = static_cast<float>(data[static_cast<std::size_t>(r * cols + c)]);
      exact += x;
      magnitude += std::fabs(x);
    }
    const long double error = std::fabs(static_cast<long double>(found[static_cast<std::size_t>(c)]) - exact);
    CHECK(error <= d * 0x1p-24 / (1 - d * 0x1p-24) * magnitude);
  }
}

/// The sum, against one in long double, within the bound of the doc comment.
void check_bound(twill::stream_ref stream, const twill::raw_buffer& scratch, const std::vector<float>& data) {
  long double exact = 0, magnitude = 0;
  for (const float x : data) {
    exact += x;
    magnitude += std::fabs(x);
  }
  const double d = std::ceil(std::log2(static_cast<double>(data.size()))) + 1, u = 0x1p-24;
  arrays<float, float> a(stream, data, 0, 1);
  twill::reduce(stream, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch, {reduce_op::sum});
  const long double error = std::fabs(static_cast<long double>(a.results()[0]) - exact);
  CHECK(error <= d * u / (1 - d * u) * magnitude);
}

template <class To, class From>
To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(static_cast<void*>(&to), &from, sizeof to);
  return to;
}

/// Each of `nans` among other numbers gives a result with the bits `wanted`, in a row and in a column; so do halves
/// that are reduced to float, and the real part of complex numbers.
template <class T, class Bits>
void check_nan(twill::stream_ref stream, const twill::raw_buffer& scratch, Bits wanted, const std::vector<Bits>& nans) {
  using support::element;
  for (const Bits nan : nans) {
    CAPTURE(nan);
    const std::vector<T> data{element<T>(1), bits_as<T>(nan), element<T>(-2), bits_as<T>(nan)};
    for (const auto op : {reduce_op::sum, reduce_op::product, reduce_op::min, reduce_op::max}) {
      CAPTURE(static_cast<int>(op));
      arrays<T, T> a(stream, data, 0, 4);
      twill::reduce(stream, a.first, a.to(), 4, scratch, {op});
      twill::reduce_columns(stream, a.first, a.to() + 1, {4, 1}, scratch, {op});
      twill::reduce_rows(stream, a.first, a.to() + 2, {2, 2}, scratch, {op});
      for (const T& each : a.results()) CHECK(bits_as<Bits>(each) == wanted);
    }
    if constexpr (sizeof(T) == 2) {
      arrays<T, float> a(stream, data, 0, 1);
      twill::reduce(stream, a.first, a.to(), 4, scratch, {reduce_op::sum});
      CHECK(bits_as<std::uint32_t>(a.results()[0]) == 0x7fc00000u);
    }
    if constexpr (sizeof(T) >= 4) {
      arrays<std::complex<T>, std::complex<T>> a(stream, {{1, 2}, {data[1], 3}}, 0, 1);
      twill::reduce(stream, a.first, a.to(), 2, scratch, {reduce_op::sum});
      CHECK(bits_as<Bits>(a.results()[0].real()) == wanted);
      CHECK(a.results()[0].imag() == 5);
    }
  }
}

/// A number that comes before or after all others is found among many, wherever it stands.
template <class T, class Bits>
void check_one_among_many(twill::stream_ref stream, const twill::raw_buffer& scratch, reduce_op op, T one,
                          const std::vector<T>& others) {
  const auto count = static_cast<std::int64_t>(others.size());
  for (const std::int64_t at : {std::int64_t{0}, count / 2 + 7, count - 1}) {
    CAPTURE(at);
    std::vector<T> data = others;
    data[static_cast<std::size_t>(at)] = one;
    arrays<T, T> a(stream, data, 0, 1);
    twill::reduce(stream, a.first, a.to(), count, scratch, {op});
    CHECK(bits_as<Bits>(a.results()[0]) == bits_as<Bits>(one));
    arrays<T, std::int64_t> places(stream, data, 0, 1);
    const auto place = op == reduce_op::min ? reduce_op::argmin : reduce_op::argmax;
    twill::reduce(stream, places.first, places.to(), count, scratch, {place});
    CHECK(places.results()[0] == at);
  }
}

template <class T, class Bits>
void check_among_many(twill::stream_ref stream, const twill::raw_buffer& scratch, Bits nan, Bits sign) {
  using support::element;
  const std::vector<T> zeros(50021, bits_as<T>(Bits{0})), minus_zeros(50021, bits_as<T>(sign));
  for (const auto op : {reduce_op::min, reduce_op::max}) {
    check_one_among_many<T, Bits>(stream, scratch, op, bits_as<T>(nan), std::vector<T>(50021, element<T>(-2)));
  }
  check_one_among_many<T, Bits>(stream, scratch, reduce_op::min, bits_as<T>(sign), zeros);
  check_one_among_many<T, Bits>(stream, scratch, reduce_op::max, bits_as<T>(Bits{0}), minus_zeros);
}

/// Eight times all halves with `exponent`, and as many zeros: no step of their sum rounds. A chunk of the tree.
std::vector<twill::float16> halves_of(std::uint32_t exponent, std::uint32_t sign) {
  std::vector<twill::float16> data;
  for (std::uint32_t i = 0; i < 16384; ++i) {
    const std::uint32_t bits = i < 8192 ? sign | exponent << 10 | i % 1024 : 0;
    data.push_back(bits_as<twill::float16>(static_cast<std::uint16_t>(bits)));
  }
  return data;
}

}  // namespace

TEST_SUITE_BEGIN("reduce");

TEST_CASE("reference: one NaN, or one zero of the other sign, among many numbers") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    check_among_many<twill::float16, std::uint16_t>(stream, scratch, 0x7e00, 0x8000);
    check_among_many<twill::bfloat16, std::uint16_t>(stream, scratch, 0x7fc0, 0x8000);
    check_among_many<float, std::uint32_t>(stream, scratch, 0x7fc00000, 0x80000000);
    check_among_many<double, std::uint64_t>(stream, scratch, 0x7ff8000000000000, std::uint64_t{1} << 63);
  });
}

TEST_CASE("reference: all halves are read right") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    const auto sum = [&](const auto& data) {
      arrays<typename std::decay_t<decltype(data)>::value_type, float> a(stream, data, 0, 1);
      twill::reduce(stream, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch, {reduce_op::sum});
      return a.results()[0];
    };
    for (std::uint32_t exponent = 0; exponent < 31; ++exponent) {
      CAPTURE(exponent);
      const double first = exponent == 0 ? 0 : 1024,
                   unit = std::ldexp(1.0, static_cast<int>(exponent == 0 ? 1 : exponent) - 25);
      const double exact = 8 * (1024 * first + 1023 * 512) * unit;
      CHECK(sum(halves_of(exponent, 0)) == exact);
      CHECK(sum(halves_of(exponent, 0x8000)) == -exact);
    }
    std::vector<twill::float16> special(16384, twill::float16(1.0f));
    special[5] = bits_as<twill::float16>(std::uint16_t{0xfc00});
    CHECK(sum(special) == -std::numeric_limits<float>::infinity());
    special[6] = bits_as<twill::float16>(std::uint16_t{0x7c01});
    CHECK(std::isnan(sum(special)));
  });
}

TEST_CASE("reference: NaN, infinity and signed zeros") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const auto result = [&](reduce_op op, const std::vector<float>& data) {
      arrays<float, float> a(stream, data, 0, 1);
      twill::reduce(stream, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch, {op});
      return a.results()[0];
    };
    const auto place = [&](reduce_op op, const std::vector<float>& data) {
      arrays<float, std::int64_t> a(stream, data, 0, 1);
      twill::reduce(stream, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch, {op});
      return a.results()[0];
    };
    for (const auto op : {reduce_op::sum, reduce_op::product, reduce_op::min, reduce_op::max}) {
      CHECK(std::isnan(result(op, {1, nan, 2})));
      CHECK(std::isnan(result(op, {-nan})));
    }
    CHECK(place(reduce_op::argmin, {3, 1, nan, 0, nan}) == 2);
    CHECK(place(reduce_op::argmax, {3, 1, nan, 9, nan}) == 2);
    CHECK(place(reduce_op::argmax, {infinity, infinity}) == 0);
    CHECK(place(reduce_op::argmin, {infinity, infinity}) == 0);
    CHECK(result(reduce_op::sum, {1, infinity}) == infinity);
    CHECK(std::isnan(result(reduce_op::sum, {-infinity, infinity})));
    CHECK(result(reduce_op::max, {-infinity, -infinity}) == -infinity);
    CHECK(std::signbit(result(reduce_op::sum, {-0.0f, -0.0f})));
    CHECK(std::signbit(result(reduce_op::min, {0.0f, -0.0f})));
    CHECK_FALSE(std::signbit(result(reduce_op::max, {-0.0f, 0.0f})));
    CHECK_FALSE(std::signbit(result(reduce_op::sum, {})));
  });
}

TEST_CASE("accuracy: within the bound of pairwise summation on adversarial inputs") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    std::mt19937 random(3);
    constexpr std::size_t count = 100001;
    std::vector<float> large(count), cancelling(count), tiny(count), alike(count, 0.1f);
    for (std::size_t i = 0; i < count; ++i) {
      large[i] = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 60) - 30);
      cancelling[i] = i % 2 == 0 ? large[i] : -large[i - 1] * (1 + 0x1p-20f);
      tiny[i] = std::ldexp(static_cast<float>(random() % 1000) - 500, -149);
    }
    for (const auto& data : {large, cancelling, tiny, alike}) {
      check_bound(stream, scratch, data);
      for (const std::int64_t cols : {1, 3, 37}) check_column_bounds(stream, scratch, data, cols);
    }
    const std::vector<twill::float16> halves(count, twill::float16(0.1f));
    for (const std::int64_t cols : {1, 7}) check_column_bounds(stream, scratch, halves, cols);
  });
}

TEST_CASE("reference: neither alignment nor the distance of rows changes a bit") {
  check_all_places<float>();
  check_all_places<twill::float16>();
  check_places<float>(2, 5 * 8192 + 1);  // several tasks
  check_places<twill::bfloat16>(3, 2049);
  check_places<double>(3, 4097);
  check_places<std::complex<float>>(3, 4097);
  check_places<std::complex<double>>(300, 33);
}

TEST_CASE("reference: the same bits on every device") {
  check_same_on_all_devices<float>(100003);
  check_same_on_all_devices<double>(30011);
  check_same_on_all_devices<twill::float16>(40007);
  check_same_on_all_devices<twill::bfloat16>(40007);
  check_same_on_all_devices<std::complex<float>>(20011);
  check_same_on_all_devices<std::complex<double>>(10007);
}

TEST_CASE("reference: more partial results than a block has threads have the bits of the CPU" *
          doctest::skip(!support::has_cpu || !support::has_simt)) {
  // 366 chunks of 32 KiB, one a block: a GPU of 132 multiprocessors runs as many at once.
  std::mt19937 random(11);
  std::vector<float> data(3000017);
  for (auto& each : data) each = random_value<float>(random);
  std::vector<float> sums;
  for (const char* name : {"cpu", "simt:h200"}) {
    const twill::stream stream(twill::device::open(name));
    const twill::raw_buffer scratch = support::reduce_scratch_of(stream);
    arrays<float, float> a(stream, data, 0, 1);
    twill::reduce(stream, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch, {reduce_op::sum});
    sums.push_back(a.results().front());
  }
  CHECK(support::same(std::vector<float>{sums[0]}, std::vector<float>{sums[1]}));
}

TEST_CASE("reference: segments have the bits of arrays") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    std::mt19937 random(5);
    std::vector<float> data(60000);
    for (auto& each : data) each = random_value<float>(random);
    const std::vector<std::int64_t> places{0, 1, 1, 4, 133, 1157, 1157, 1160, 9500, 26000, 59990, 60000};
    const std::size_t segments = places.size() - 1;
    arrays<float, float> a(stream, data, 0, 2 * segments);
    arrays<float, std::int64_t> where(stream, data, 0, segments);
    twill::buffer<std::int64_t> offsets(stream.on(), places.size());
    offsets.upload(places, stream);
    twill::reduce_segments(stream, a.first, a.to(), offsets.data(), 11, scratch, {reduce_op::sum});
    twill::reduce_segments(stream, a.first, where.to(), offsets.data(), 11, scratch, {reduce_op::argmin});
    for (std::size_t s = 0; s < segments; ++s) {
      const std::int64_t count = std::max<std::int64_t>(0, places[s + 1] - places[s]);
      twill::reduce(stream, a.first + places[s], a.to() + segments + s, count, scratch, {reduce_op::sum});
    }
    const auto found = a.results();
    const auto found_places = where.results();
    for (std::size_t s = 0; s < segments; ++s) {
      CAPTURE(s);
      CHECK(same(found[s], found[segments + s]));
      const std::int64_t count = std::max<std::int64_t>(0, places[s + 1] - places[s]);
      CHECK(found_places[s] ==
            support::reduce_reference<float, std::int64_t>(reduce_op::argmin, data.data() + places[s], count));
    }
  });
}

TEST_CASE("reference: a NaN has the same bits from every operation, on every device") {
  on_each_scratch([](twill::stream_ref stream, const twill::raw_buffer& scratch) {
    check_nan<twill::float16>(stream, scratch, std::uint16_t{0x7e00}, {0x7e00, 0x7fff, 0xfc01});
    check_nan<twill::bfloat16>(stream, scratch, std::uint16_t{0x7fc0}, {0x7fc0, 0x7fff, 0xff81});
    check_nan<float>(stream, scratch, 0x7fc00000u, {0x7fc00000, 0x7fffffff, 0xffc12345, 0xff800001});
    check_nan<double>(stream, scratch, std::uint64_t{0x7ff8000000000000},
                      {0x7ff8000000000000, 0x7fffffffffffffff, 0xfff8123400000000, 0xfff0000000000001});
  });
}

TEST_SUITE_END();
