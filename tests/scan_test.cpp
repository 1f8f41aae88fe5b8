#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/scan_arrays.hpp"
#include "support/scan_reference.hpp"

namespace {

using support::code_of;
using support::guarded;
using support::on_each_device;
using support::random_elements;
using twill::scan_op;
using twill::scan_options;
using twill::scan_shape;

template <class T>
std::vector<T> downloaded(twill::stream_ref stream, const twill::buffer<T>& from) {
  std::vector<T> host(from.size());
  from.download(host.data(), stream);
  stream.wait();
  return host;
}

struct scratch_memory {
  scratch_memory(const twill::device& on, std::size_t bytes, twill::stream_ref stream) : memory(on, bytes) {
    if (bytes > 0) twill::fill_bytes(stream, memory.data(), 0xff, bytes);  // nobody promises that it is clear
  }
  twill::raw_buffer memory;
};

template <class T>
void check_scan(twill::stream_ref stream, const scan_shape& shape, const scan_options& options, std::size_t offset,
                std::uint32_t seed) {
  CAPTURE(shape.rows);
  CAPTURE(shape.cols);
  CAPTURE(offset);
  CAPTURE(std::string(twill::name(twill::element_type_of<T>)));
  CAPTURE(static_cast<int>(options.op));
  CAPTURE(options.exclusive);
  CAPTURE(options.two_passes);
  const auto in_ld = shape.in_ld ? shape.in_ld : shape.cols, out_ld = shape.out_ld ? shape.out_ld : shape.cols;
  const auto elements = random_elements<T>(static_cast<std::size_t>(shape.rows * in_ld), seed);
  std::vector<T> expected(static_cast<std::size_t>(shape.rows * out_ld), T{});
  guarded<T> out(stream, expected, offset * sizeof(T));
  const guarded<T> in(stream, elements, offset * sizeof(T));
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const auto* row = elements.data() + r * in_ld;
    const auto scanned = support::scan_reference(std::vector<T>(row, row + shape.cols), {}, options);
    std::copy(scanned.begin(), scanned.end(), expected.begin() + r * out_ld);
  }
  const auto bytes = twill::scan_scratch_bytes(stream.on(), twill::element_type_of<T>, shape, options);
  const scratch_memory scratch(stream.on(), bytes, stream);
  twill::scan(stream, in.data(), out.data(), shape, scratch.memory, options);
  CHECK(out.holds(stream, expected));
}

template <class T>
void check_segments(twill::stream_ref stream, std::int64_t count, const std::vector<std::int64_t>& offsets,
                    const scan_options& options) {
  CAPTURE(count);
  CAPTURE(std::string(twill::name(twill::element_type_of<T>)));
  CAPTURE(static_cast<int>(options.op));
  CAPTURE(options.exclusive);
  const auto elements = random_elements<T>(static_cast<std::size_t>(count), 5);
  const guarded<T> in(stream, elements, 0);
  guarded<T> out(stream, std::vector<T>(elements.size()), 0);
  const guarded<std::int64_t> places(stream, offsets, 0);
  const auto bytes = twill::scan_segments_scratch_bytes(stream.on(), twill::element_type_of<T>, count,
                                                        static_cast<std::int64_t>(offsets.size()), options);
  const scratch_memory scratch(stream.on(), bytes, stream);
  twill::scan_segments(stream, in.data(), out.data(), count, places.data(), static_cast<std::int64_t>(offsets.size()),
                       scratch.memory, options);
  CHECK(out.holds(stream, support::scan_reference(elements, offsets, options)));
}

template <class F>
void with_real_types(F&& f) {
  f(std::int8_t{}), f(std::int16_t{}), f(std::int32_t{}), f(std::int64_t{});
  f(std::uint8_t{}), f(std::uint16_t{}), f(std::uint32_t{}), f(std::uint64_t{});
  f(twill::float16{}), f(twill::bfloat16{}), f(float{}), f(double{});
}

}  // namespace

TEST_SUITE_BEGIN("scan");

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    twill::buffer<float> in(device, 4), out(device, 4);
    in.upload(std::vector<float>{1, 2, 3, 4}, stream);
    const twill::raw_buffer scratch(device, twill::scan_scratch_bytes(device, twill::element_type::f32, 4));
    twill::scan(stream, in.data(), out.data(), 4, scratch);
    CHECK(downloaded(stream, out) == std::vector<float>{1, 3, 6, 10});
    twill::scan(stream, in.data(), out.data(), 4, scratch, {scan_op::sum, true});
    CHECK(downloaded(stream, out) == std::vector<float>{0, 1, 3, 6});
    twill::scan(stream, in.data(), out.data(), 4, scratch, {scan_op::min, true});
    CHECK(downloaded(stream, out) == std::vector<float>{INFINITY, 1, 1, 1});
    twill::scan(stream, in.data(), in.data(), 4, scratch, {scan_op::max});
    CHECK(downloaded(stream, in) == std::vector<float>{1, 2, 3, 4});
  });
}

TEST_CASE("reference: every type, operation and side") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    with_real_types([&](auto element) {
      using T = decltype(element);
      for (const auto op : {scan_op::sum, scan_op::min, scan_op::max}) {
        check_scan<T>(stream, {1, 33}, {op, false}, 0, ++seed);
        check_scan<T>(stream, {1, 50001}, {op, true}, 0, ++seed);
      }
    });
    check_scan<std::complex<float>>(stream, {1, 9001}, {scan_op::sum, true}, 0, 7);
    check_scan<std::complex<double>>(stream, {1, 9001}, {scan_op::sum, false}, 0, 8);
  });
}

TEST_CASE("reference: lengths about a warp, a tile and several tiles") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t tile = 256 * 11 * 4;  // of the GPU kernel
    for (const std::int64_t count : {std::int64_t{0}, std::int64_t{1}, std::int64_t{31}, std::int64_t{32}, tile - 1,
                                     tile, tile + 1, 35 * tile + 17}) {
      check_scan<std::uint32_t>(stream, {1, count}, {scan_op::sum, count % 2 == 0}, 0, 3);
    }
    check_scan<std::int32_t>(stream, {1, 20 * tile + 5}, {scan_op::sum, true, true}, 0, 4);
    for (const std::size_t offset : {1, 3}) {  // elements from a multiple of 16 bytes
      check_scan<std::uint8_t>(stream, {1, 50000}, {scan_op::sum, true}, offset, 5);
      check_scan<float>(stream, {1, 12345}, {scan_op::sum, false}, offset, 6);
      check_scan<std::complex<float>>(stream, {1, 3000}, {scan_op::sum, false}, offset, 6);
    }
  });
}

TEST_CASE("reference: rows, packed and strided, short and long") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    check_scan<float>(stream, {1000, 7}, {scan_op::sum, true}, 0, 1);
    check_scan<std::uint8_t>(stream, {100, 33}, {scan_op::max, false}, 0, 2);
    check_scan<double>(stream, {3, 6001}, {scan_op::sum, false}, 0, 3);
    check_scan<float>(stream, {4, 12000}, {scan_op::sum, false}, 0, 4);
    check_scan<std::int32_t>(stream, {4, 500, 512, 505}, {scan_op::min, true}, 0, 5);
    check_scan<std::int64_t>(stream, {70, 1}, {scan_op::sum, true}, 0, 6);
    // Rows that all begin at multiples of 16 bytes, and end within one.
    check_scan<float>(stream, {3, 12003, 12004, 12008}, {scan_op::sum, true}, 0, 7);
    check_scan<std::uint8_t>(stream, {3, 50001, 50016, 50032}, {scan_op::sum, false}, 0, 8);
    check_scan<twill::float16>(stream, {2, 22535, 22536, 22536}, {scan_op::max, true}, 0, 9);
    // The first row has as many elements as its tiles, the others begin within a vector and have one tile more.
    check_scan<float>(stream, {3, 11264, 11265, 11265}, {scan_op::sum, false}, 0, 10);
    check_scan<std::int64_t>(stream, {2, 5120, 5121, 5120}, {scan_op::max, false}, 0, 11);
    // Packed rows about as long as the registers of a block, of a warp and of some lanes hold.
    for (const std::int64_t cols : {1, 3, 5, 31, 127, 129, 191, 193, 767, 769, 1537, 3073, 6145, 12285, 12289}) {
      check_scan<float>(stream, {5, cols}, {scan_op::sum, cols % 3 == 0}, 0, 14);
      check_scan<std::uint8_t>(stream, {4, 4 * cols, 4 * cols + 1, 4 * cols + 3}, {scan_op::min, cols % 3 == 1}, 3, 15);
      check_scan<std::complex<float>>(stream, {6, cols}, {scan_op::sum, cols % 3 == 2}, 1, 16);
    }
    // More rows than blocks are resident.
    check_scan<std::uint16_t>(stream, {9001, 9}, {scan_op::sum, true}, 0, 17);
    check_scan<float>(stream, {9001, 8}, {scan_op::sum, true}, 0, 18);
    check_scan<std::uint8_t>(stream, {9001, 3, 4, 3}, {scan_op::max, false}, 1, 19);
    // Packed rows that fill a quarter, half, most and half of their tiles.
    for (const std::int64_t cols : {3000, 6000, 9999, 12000}) {
      for (const std::size_t offset : {0, 1}) {
        check_scan<float>(stream, {5, cols}, {scan_op::sum, cols % 3 == 0}, offset, 12);
        check_scan<std::uint16_t>(stream, {3, 2 * cols}, {scan_op::min, cols % 3 != 0}, offset, 13);
      }
    }
  });
}

TEST_CASE("reference: segments") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t count = 40000;
    std::mt19937 random(1);
    std::vector<std::int64_t> some{0}, many;
    while (some.back() < count) some.push_back(some.back() + static_cast<std::int64_t>(random() % 9000));
    for (std::int64_t at = 5; at < count + 50; at += static_cast<std::int64_t>(random() % 4)) many.push_back(at);
    for (const auto& offsets : {some, many, std::vector<std::int64_t>{}, std::vector<std::int64_t>{20000}}) {
      check_segments<float>(stream, count, offsets, {scan_op::sum, true});
      check_segments<std::uint8_t>(stream, count, offsets, {scan_op::sum, false});
      check_segments<std::int16_t>(stream, count, offsets, {scan_op::min, true});
    }
    check_segments<double>(stream, count, many, {scan_op::max, false});
    check_segments<twill::float16>(stream, count, many, {scan_op::sum, false, true});
    check_segments<std::complex<double>>(stream, 9000, many, {scan_op::sum, true});
  });
}

// Beyond the caches of a CPU, where results are streamed.
TEST_CASE("reference: more than the CPU's caches hold") {
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  check_scan<float>(stream, {1, (1 << 20) + 5}, {scan_op::sum, true}, 0, 1);
  check_scan<std::int8_t>(stream, {1, (1 << 22) + 77}, {scan_op::sum, false}, 3, 2);
  check_scan<std::int16_t>(stream, {1, (1 << 21) + 5}, {scan_op::sum, true}, 8, 3);
  check_scan<double>(stream, {200, 3001, 3001, 3007}, {scan_op::sum, false}, 0, 4);
}

TEST_CASE("in place") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const auto elements = random_elements<std::int32_t>(30000, 1);
    guarded<std::int32_t> both(stream, elements, 0);
    const scan_options options{scan_op::sum, true};
    const scratch_memory scratch(device, twill::scan_scratch_bytes(device, twill::element_type::i32, 30000), stream);
    twill::scan(stream, both.data(), both.data(), 30000, scratch.memory, options);
    CHECK(both.holds(stream, support::scan_reference(elements, {}, options)));
    for (const std::int64_t cols : {7, 8, 333, 1000}) {
      CAPTURE(cols);
      std::vector<std::int32_t> expected = elements;
      guarded<std::int32_t> rows(stream, elements, 4);
      for (std::int64_t row = 0; row < 30; ++row) {
        const auto first = elements.begin() + row * cols;
        const auto scanned = support::scan_reference(std::vector<std::int32_t>(first, first + cols), {}, options);
        std::copy(scanned.begin(), scanned.end(), expected.begin() + row * cols);
      }
      const twill::raw_buffer none(device, twill::scan_scratch_bytes(device, twill::element_type::i32, {30, cols}));
      twill::scan(stream, rows.data(), rows.data(), {30, cols}, none, options);
      CHECK(rows.holds(stream, expected));
    }
  });
}

TEST_CASE("NaN, infinity and -0") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t before = 20000;  // so many identities make it long
    const twill::raw_buffer scratch(device, twill::scan_scratch_bytes(device, twill::element_type::f32, before + 6));
    twill::buffer<float> in(device, before + 6), out(device, before + 6);
    twill::fill_bytes(stream, out.data(), 0, out.size_bytes());
    // What comes out of these six, alone and at the end of more.
    const auto scanned = [&](const std::vector<float>& x, scan_op op) {
      const float identity = op == scan_op::sum ? 0 : op == scan_op::min ? INFINITY : -INFINITY;
      std::vector<float> all(before, identity);
      all.insert(all.end(), x.begin(), x.end());
      in.upload(all, stream);
      twill::scan(stream, in.data() + before, out.data() + before, 6, scratch, {op});
      auto found = downloaded(stream, out);
      const std::vector<float> alone(found.end() - 6, found.end());
      twill::scan(stream, in.data(), out.data(), before + 6, scratch, {op});
      found = downloaded(stream, out);
      const std::vector<float> at_end(found.end() - 6, found.end());
      for (std::size_t i = 0; i < 6; ++i) {
        const bool same = alone[i] == at_end[i] && std::signbit(alone[i]) == std::signbit(at_end[i]);
        CHECK((same || (std::isnan(alone[i]) && std::isnan(at_end[i]))));
      }
      return alone;
    };
    for (const auto op : {scan_op::sum, scan_op::min, scan_op::max}) {
      for (const float nan : {NAN, -NAN}) {
        const auto found = scanned({1, 2, nan, 3, -INFINITY, INFINITY}, op);
        CHECK_FALSE(std::isnan(found[1]));
        for (int i = 2; i < 6; ++i) CHECK(std::isnan(found[static_cast<std::size_t>(i)]));
      }
    }
    CHECK(std::signbit(scanned({0.0f, -0.0f, 1, 2, 3, 4}, scan_op::min)[1]));
    CHECK_FALSE(std::signbit(scanned({-0.0f, 0.0f, -1, -2, -3, -4}, scan_op::max)[1]));
    CHECK(scanned({1, -INFINITY, 2, 3, 4, 5}, scan_op::min)[5] == -INFINITY);
    CHECK(scanned({-1, INFINITY, 2, 3, 4, 5}, scan_op::sum)[5] == INFINITY);
  });
}

// The bound of the doc comment: each result is within k units of rounding of the sum of absolute values.
TEST_CASE("sums that cancel stay within the bound, and are the same bits every time") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::size_t count = 100000;
    std::mt19937 random(3);
    std::vector<float> elements(count);
    for (std::size_t i = 0; i < count; ++i) {
      const float x = std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 60) - 60);
      elements[i] = i % 2 == 0 ? x : -elements[i - 1] * 0.9999f;
    }
    const twill::raw_buffer scratch(
        device, twill::scan_scratch_bytes(device, twill::element_type::f32, static_cast<std::int64_t>(count)));
    twill::buffer<float> in(device, count), out(device, count + 1);
    in.upload(elements, stream);
    twill::fill_bytes(stream, out.data(), 0, out.size_bytes());
    std::vector<float> first;
    for (int run = 0; run < 4; ++run) {  // in two passes, and to an address that is no multiple of 16
      twill::scan(stream, in.data(), out.data() + (run == 3), static_cast<std::int64_t>(count), scratch,
                  {scan_op::sum, false, run == 2});
      auto found = downloaded(stream, out);
      found.erase(run == 3 ? found.begin() : found.end() - 1);
      if (run > 0) CHECK(found == first);
      first = found;
    }
    long double exact = 0, absolute = 0;
    std::size_t beyond = 0;
    const bool native = device.properties().backend == "cpu";
    const long double depth = native ? 4110 + count / 32768.0L : 48 + count / (32 * 8192.0L);
    for (std::size_t i = 0; i < count; ++i) {
      exact += elements[i];
      absolute += std::fabs(elements[i]);
      if (std::fabs(first[i] - exact) > depth * 0x1p-24L * absolute) ++beyond;
    }
    CHECK(beyond == 0);
  });
}

// Wherever the output lies, and in memory of exactly their size, beyond which the checks of simulated devices find
// reads.
TEST_CASE("rows have the same bits in place and at any alignment") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(5);
    for (const std::int64_t cols : {5, 33, 127, 131, 772, 3001, 12285}) {
      CAPTURE(cols);
      const auto count = static_cast<std::size_t>(3 * cols);
      std::vector<float> elements(count), found(count), first;
      for (float& x : elements) x = std::ldexp(static_cast<float>(random()), static_cast<int>(random() % 40) - 60);
      const twill::raw_buffer scratch(device, twill::scan_scratch_bytes(device, twill::element_type::f32, {3, cols}));
      twill::buffer<float> in(device, count), out(device, count + 3);
      for (const std::size_t offset : {0, 1, 2, 3}) {
        in.upload(elements, stream);
        twill::scan(stream, in.data(), out.data() + offset, {3, cols}, scratch);
        twill::download(stream, out.data() + offset, found.data(), static_cast<std::int64_t>(count));
        stream.wait();
        if (offset == 0) first = found;
        CHECK(found == first);
      }
      twill::scan(stream, in.data(), in.data(), {3, cols}, scratch);
      CHECK(downloaded(stream, in) == first);
    }
  });
}

TEST_CASE("scratch: a few bytes for each tile of 8 KiB and more") {
  on_each_device([](const twill::device& device) {
    const std::int64_t count = std::int64_t{1} << 24;
    for (const auto type : {twill::element_type::u8, twill::element_type::f32, twill::element_type::f64}) {
      const auto bytes = static_cast<std::size_t>(count) * twill::element_bytes(type);
      CHECK(twill::scan_scratch_bytes(device, type, count) <= bytes / 500);
      CHECK(twill::scan_segments_scratch_bytes(device, type, count, 10) <= bytes / 500 + count / 7);
    }
  });
}

TEST_CASE("errors") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const auto invalid = twill::errc::invalid_argument;
    twill::buffer<float> memory(device, 40960);
    twill::fill_bytes(stream, memory.data(), 0, memory.size_bytes());
    float* in = memory.data();
    float* out = in + 20480;
    const auto bytes = twill::scan_scratch_bytes(device, twill::element_type::f32, 20000);
    twill::raw_buffer scratch(device, bytes);
    const auto call = [&](const float* from, float* to, const scan_shape& shape, void* at, std::size_t size) {
      return code_of([&] { twill::scan(stream, from, to, shape, {at, size}); });
    };
    CHECK(call(in, out, {1, -1}, scratch.data(), bytes) == invalid);
    CHECK(call(in, out, {-1, 0}, scratch.data(), bytes) == invalid);
    CHECK(call(in, out, {10, 10, 9}, scratch.data(), bytes) == invalid);
    twill::raw_buffer shared(device, 2 * bytes + 160000);
    const auto most = 2 * bytes + 160000;
    CHECK(call(static_cast<float*>(shared.data()), out, {1, 20000}, shared.data(), most) == invalid);
    CHECK(call(in, static_cast<float*>(shared.data()), {1, 20000}, shared.data(), most) == invalid);
    CHECK(code_of([&] {
            (void)twill::scan_scratch_bytes(device, twill::element_type::f32, {std::int64_t{1} << 60, 16});
          }) == invalid);
    CHECK_NOTHROW(twill::scan(stream, in, in, {1, 4, 8, 0}, scratch));
    CHECK(call(in, out, {std::int64_t{1} << 62, 10}, scratch.data(), bytes) == invalid);
    CHECK(call(nullptr, out, {1, 20000}, scratch.data(), bytes) == invalid);
    CHECK(call(in, nullptr, {1, 20000}, scratch.data(), bytes) == invalid);
    CHECK(call(in, in + 19999, {1, 20000}, scratch.data(), bytes) == invalid);
    CHECK(call(in, in, {10, 20, 20, 30}, scratch.data(), bytes) == invalid);
    CHECK(call(in, out, {1, 20000}, nullptr, bytes) == invalid);
    CHECK(call(in, out, {1, 20000}, scratch.data(), bytes - 1) == invalid);
    const auto* odd = reinterpret_cast<const float*>(reinterpret_cast<const char*>(in) + 1);
    CHECK(call(odd, out, {1, 20000}, scratch.data(), bytes) == invalid);
    CHECK(code_of([&] {
            twill::scan_untyped(stream, in, out, twill::element_type::c64, 8, scratch, {scan_op::max});
          }) == invalid);
    CHECK(code_of([&] {  // half an element off
            twill::scan_untyped(stream, in + 2, out, twill::element_type::c128, 8, scratch);
          }) == invalid);
    twill::scan<float>(stream, nullptr, nullptr, 0, {});
    if (device.properties().is_gpu) return;
    const std::vector<std::int64_t> falling{0, 9, 8};
    CHECK(code_of([&] { twill::scan_segments(stream, in, out, 10, falling.data(), 3, scratch); }) == invalid);
  });
}

TEST_SUITE_END();
