#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/devices.hpp"
#include "support/reduce_reference.hpp"

namespace {

using support::element;
using support::is_complex;
using support::is_half;
using twill::reduce_op;

template <class F>
void on_each_device(F&& f) {
  for (const auto& name : support::test_devices()) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    const twill::stream stream(device);
    const twill::reduce_scratch scratch(stream);
    f(twill::stream_ref(stream), scratch);
  }
}

template <class T>
std::vector<T> small_numbers(std::int64_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<T> list(static_cast<std::size_t>(count));
  for (auto& each : list) {
    each = element<T>(std::is_unsigned_v<T> ? static_cast<int>(random() % 5) : static_cast<int>(random() % 5) - 2);
  }
  return list;
}

/// Device memory with `misalignment` elements before the data, and results between guards.
template <class T, class Out>
struct arrays {
  arrays(twill::stream_ref s, const std::vector<T>& data, std::size_t misalignment, std::size_t count)
      : stream(s), in(s.on(), data.size() + misalignment + 1), out(s.on(), count + 2), guards(count + 2) {
    std::vector<T> padded(in.size());
    std::copy(data.begin(), data.end(), padded.begin() + static_cast<std::ptrdiff_t>(misalignment));
    in.upload(padded, stream);
    std::memset(static_cast<void*>(guards.data()), 0x5a, guards.size() * sizeof(Out));
    out.upload(guards, stream);
    first = in.data() + misalignment;
  }
  std::vector<Out> results() {
    std::vector<Out> found(guards.size());
    out.download(found, stream);
    stream.wait();
    CHECK(std::memcmp(&found.front(), &guards.front(), sizeof(Out)) == 0);
    CHECK(std::memcmp(&found.back(), &guards.back(), sizeof(Out)) == 0);
    return {found.begin() + 1, found.end() - 1};
  }
  Out* to() { return out.data() + 1; }

  twill::stream_ref stream;
  twill::buffer<T> in;
  twill::buffer<Out> out;
  std::vector<Out> guards;
  const T* first;
};

template <class Out>
bool same(const Out& a, const Out& b) {
  return std::memcmp(&a, &b, sizeof(Out)) == 0;
}

template <class T, class Out>
void check_shape(twill::stream_ref stream, const twill::reduce_scratch& scratch, reduce_op op,
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
    twill::reduce_rows(stream, op, a.first, a.to(), shape, scratch);
    const auto found = a.results();
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      const auto expected = support::reduce_reference<T, Out>(op, data.data() + r * ld, shape.cols);
      REQUIRE(same(found[static_cast<std::size_t>(r)], expected));
    }
  }
  if (shape.rows == 0 && place) return;
  arrays<T, Out> a(stream, data, misalignment, static_cast<std::size_t>(shape.cols));
  twill::reduce_columns(stream, op, a.first, a.to(), shape, scratch);
  const auto found = a.results();
  std::vector<T> column(static_cast<std::size_t>(shape.rows));
  for (std::int64_t c = 0; c < shape.cols; ++c) {
    for (std::int64_t r = 0; r < shape.rows; ++r) {
      column[static_cast<std::size_t>(r)] = data[static_cast<std::size_t>(r * ld + c)];
    }
    REQUIRE(same(found[static_cast<std::size_t>(c)], support::reduce_reference<T, Out>(op, column.data(), shape.rows)));
  }
}

/// Products of whole numbers are exact in floating point only where no column and row is long: the others have 1 and
/// -1.
template <class T, class Out>
void check_op(twill::stream_ref stream, const twill::reduce_scratch& scratch, reduce_op op) {
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
void check_type(twill::stream_ref stream, const twill::reduce_scratch& scratch) {
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

/// Bytes of a result, for comparing devices.
template <class T>
std::vector<T> bits_of_sums(twill::stream_ref stream, const twill::reduce_scratch& scratch,
                            const std::vector<T>& data) {
  const auto count = static_cast<std::int64_t>(data.size());
  const std::int64_t cols = 37, rows = count / cols;
  arrays<T, T> a(stream, data, 0, static_cast<std::size_t>(2 + rows + cols));
  twill::reduce(stream, reduce_op::sum, a.first, a.to(), count, scratch);
  twill::reduce(stream, reduce_op::product, a.first, a.to() + 1, count, scratch);
  twill::reduce_rows(stream, reduce_op::sum, a.first, a.to() + 2, {rows, cols, 0}, scratch);
  twill::reduce_columns(stream, reduce_op::sum, a.first, a.to() + 2 + rows, {rows, cols, 0}, scratch);
  return a.results();
}

template <class T>
T random_value(std::mt19937& random) {
  const float x = (static_cast<float>(random() % 20001) - 10000.0f) * 0x1p-13f;
  if constexpr (is_complex<T>) {
    return {x, x * 0.5f + 0.25f};
  } else {
    return T(x);
  }
}

template <class T>
void check_same_on_all_devices(std::int64_t count) {
  std::mt19937 random(7);
  std::vector<T> data(static_cast<std::size_t>(count));
  for (auto& each : data) each = random_value<T>(random);
  std::vector<T> first;
  on_each_device([&](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
    const auto found = bits_of_sums(stream, scratch, data);
    if (first.empty()) first = found;
    CHECK(std::memcmp(first.data(), found.data(), found.size() * sizeof(T)) == 0);
  });
}

/// The sum, against one in long double, within the bound of the doc comment.
void check_bound(twill::stream_ref stream, const twill::reduce_scratch& scratch, const std::vector<float>& data) {
  long double exact = 0, magnitude = 0;
  for (const float x : data) {
    exact += x;
    magnitude += std::fabs(x);
  }
  const double d = std::ceil(std::log2(static_cast<double>(data.size()))) + 1, u = 0x1p-24;
  arrays<float, float> a(stream, data, 0, 1);
  twill::reduce(stream, reduce_op::sum, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch);
  const long double error = std::fabs(static_cast<long double>(a.results()[0]) - exact);
  CHECK(error <= d * u / (1 - d * u) * magnitude);
}

}  // namespace

TEST_SUITE_BEGIN("reduce");

TEST_CASE("literal: the examples of the header") {
  on_each_device([](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
    arrays<float, float> a(stream, {1, 2, 3, 4, 5, 6}, 0, 6);
    twill::reduce(stream, reduce_op::sum, a.first, a.to(), 3, scratch);
    twill::reduce_rows(stream, reduce_op::sum, a.first, a.to() + 1, {2, 3}, scratch);
    twill::reduce_columns(stream, reduce_op::sum, a.first, a.to() + 3, {2, 3}, scratch);
    CHECK(a.results() == std::vector<float>{6, 6, 15, 5, 7, 9});
    arrays<float, std::int64_t> place(stream, {1, 2, 3}, 0, 1);
    twill::reduce(stream, reduce_op::argmax, place.first, place.to(), 3, scratch);
    CHECK(place.results()[0] == 2);
  });
}

TEST_CASE("reference: every operation and type, rows and columns") {
  on_each_device([](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
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
  on_each_device([](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
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
  });
}

TEST_CASE("reference: NaN, infinity and signed zeros") {
  on_each_device([](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const auto result = [&](reduce_op op, const std::vector<float>& data) {
      arrays<float, float> a(stream, data, 0, 1);
      twill::reduce(stream, op, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch);
      return a.results()[0];
    };
    const auto place = [&](reduce_op op, const std::vector<float>& data) {
      arrays<float, std::int64_t> a(stream, data, 0, 1);
      twill::reduce(stream, op, a.first, a.to(), static_cast<std::int64_t>(data.size()), scratch);
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
  on_each_device([](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
    std::mt19937 random(3);
    constexpr std::size_t count = 100001;
    std::vector<float> large(count), cancelling(count), tiny(count), alike(count, 0.1f);
    for (std::size_t i = 0; i < count; ++i) {
      large[i] = std::ldexp(static_cast<float>(random() % 1000), static_cast<int>(random() % 60) - 30);
      cancelling[i] = i % 2 == 0 ? large[i] : -large[i - 1] * (1 + 0x1p-20f);
      tiny[i] = std::ldexp(static_cast<float>(random() % 1000) - 500, -149);
    }
    for (const auto& data : {large, cancelling, tiny, alike}) check_bound(stream, scratch, data);
  });
}

TEST_CASE("reference: the same bits on every device") {
  check_same_on_all_devices<float>(100003);
  check_same_on_all_devices<double>(30011);
  check_same_on_all_devices<twill::float16>(40007);
  check_same_on_all_devices<twill::bfloat16>(40007);
  check_same_on_all_devices<std::complex<float>>(20011);
  check_same_on_all_devices<std::complex<double>>(10007);
}

TEST_CASE("reference: segments have the bits of arrays; a wrong order counts as empty") {
  on_each_device([](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
    std::mt19937 random(5);
    std::vector<float> data(60000);
    for (auto& each : data) each = random_value<float>(random);
    const std::vector<std::int64_t> places{0, 1, 1, 4, 133, 1157, 1157, 1160, 9500, 26000, 60000, 59990};
    const std::size_t segments = places.size() - 1;
    arrays<float, float> a(stream, data, 0, 2 * segments);
    arrays<float, std::int64_t> where(stream, data, 0, segments);
    twill::buffer<std::int64_t> offsets(stream.on(), places.size());
    offsets.upload(places, stream);
    twill::reduce_segments(stream, reduce_op::sum, a.first, a.to(), offsets.data(), 11, scratch);
    twill::reduce_segments(stream, reduce_op::argmin, a.first, where.to(), offsets.data(), 11, scratch);
    for (std::size_t s = 0; s < segments; ++s) {
      const std::int64_t count = std::max<std::int64_t>(0, places[s + 1] - places[s]);
      twill::reduce(stream, reduce_op::sum, a.first + places[s], a.to() + segments + s, count, scratch);
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

TEST_CASE("errors: the same on every device") {
  on_each_device([](twill::stream_ref stream, const twill::reduce_scratch& scratch) {
    twill::buffer<double> memory(stream.on(), 512);
    auto* in = memory.data();
    auto* out = in + 256;
    using type = twill::element_type;
    const auto code = [&](reduce_op op, const void* from, type in_type, void* to, type out_type,
                          const twill::reduce_shape& shape) {
      try {
        twill::reduce_rows_bytes(stream, op, from, in_type, to, out_type, shape, scratch);
      } catch (const twill::error& e) {
        return e.code() == twill::errc::invalid_argument;
      }
      return false;
    };
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
    CHECK_THROWS_AS(twill::reduce_scratch(stream, memory.data(), 100), twill::error);
    CHECK_THROWS_AS(twill::reduce_scratch(stream, nullptr, twill::reduce_scratch_bytes), twill::error);
    const bool is_k20 = stream.on().properties().name == "simt:k20";
    const twill::reduce_scratch elsewhere(twill::stream(twill::device::open(is_k20 ? "simt:v100" : "simt:k20")));
    CHECK_THROWS_AS(twill::reduce(stream, reduce_op::sum, in, out, 3, elsewhere), twill::error);
  });
}

TEST_SUITE_END();
