#include <doctest/doctest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/backends.hpp"
#include "support/cases.hpp"
#include "support/devices.hpp"
#include "support/image.hpp"
#include "support/transpose_case.hpp"

namespace {

using twill::transpose_shape;

using support::check_case;
using support::code_of;
using support::on_each_device;

}  // namespace

TEST_SUITE_BEGIN("transpose");

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::vector<float> host{1, 2, 3, 4, 5, 6};
    twill::buffer<float> a(device, 6), b(device, 6);
    a.upload(host, stream);
    twill::transpose(stream, a.data(), b.data(), {2, 3});
    std::vector<float> result(6);
    b.download(result, stream);
    stream.wait();
    CHECK(result == std::vector<float>{1, 4, 2, 5, 3, 6});
  });
}

TEST_CASE("reference: sizes around tile edges, every element size") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t sizes[] = {0, 1, 31, 32, 33, 127, 129};
    std::uint32_t seed = 1;
    for (std::int64_t bytes : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 63, 64}) {
      for (auto rows : sizes) {
        for (auto cols : sizes) check_case(stream, {rows, cols}, bytes, 0, 0, seed += 2);
      }
    }
  });
}

TEST_CASE("reference: outputs of several MiB, which go past the caches") {
  on_each_device([](const twill::device& device) {
    if (device.properties().backend == "simt") return;  // has no such path, and takes seconds for each
    const twill::stream stream(device);
    struct large {
      transpose_shape shape;
      std::int64_t element_bytes;
      std::size_t in_offset, out_offset;
    };
    const large cases[] = {
        {{2048, 2112}, 1, 0, 0},
        {{1030, 1100, 1, 0, 1088}, 4, 4, 64},
        {{2049, 2111}, 1, 3, 0},
        {{1100, 1031, 2}, 2, 0, 2},
        {{777, 801}, 8, 8, 24},
        {{600, 500}, 16, 0, 16},
        {{999, 1003}, 5, 1, 2},
        {{700000, 3}, 2, 2, 0},
        {{500001, 4}, 4, 0, 8},
        {{2, 300007}, 8, 0, 8},
        {{3, 1500003}, 1, 1, 5},
        {{4, 600001, 1, 600005, 5}, 4, 4, 0},
        {{32, 150000}, 1, 0, 1},
        {{300000, 17}, 1, 0, 0},
        {{5, 7, 100000}, 2, 0, 2},
        {{33, 31, 1200}, 4, 4, 4},
        {{4, 4, 40000, 5, 6, 40, 30}, 8, 0, 0},
    };
    std::uint32_t seed = 77;
    for (const auto& c : cases) check_case(stream, c.shape, c.element_bytes, c.in_offset, c.out_offset, seed += 2);
  });
}

// On GPUs: blocks take their tiles across, as a column of them exceeds the cache (simt_planning_test has a small one).
TEST_CASE("reference: tall matrices") {
  on_each_device([](const twill::device& device) {
    if (device.properties().backend == "simt") return;  // takes seconds for each
    const twill::stream stream(device);
    std::uint32_t seed = 177;
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      for (const std::int64_t cols : {67, 80, 272}) check_case(stream, {50003, cols}, bytes, 0, 0, seed += 2);
      check_case(stream, {50016, 208}, bytes, 0, 16, seed += 2);
    }
  });
}

TEST_CASE("reference: random shapes, strides, batches and misalignments") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240607);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 300; ++i) {
      transpose_shape s;
      s.rows = pick(0, 3) == 0 ? pick(1, 400) : pick(1, 70);
      s.cols = pick(0, 3) == 0 ? pick(1, 400) : pick(1, 70);
      s.batch = pick(0, 2) == 0 ? pick(0, 5) : 1;
      if (pick(0, 1)) s.in_ld = s.cols + pick(0, 9);
      if (pick(0, 1)) s.out_ld = s.rows + pick(0, 9);
      if (pick(0, 1)) s.in_stride = s.rows * (s.in_ld ? s.in_ld : s.cols) + pick(0, 40);
      if (pick(0, 1)) s.out_stride = s.cols * (s.out_ld ? s.out_ld : s.rows) + pick(0, 40);
      const auto in_offset = static_cast<std::size_t>(pick(0, 16)), out_offset = static_cast<std::size_t>(pick(0, 16));
      check_case(stream, s, pick(1, 64), in_offset, out_offset, random());
    }
  });
}

TEST_CASE("reference: interleaved batches") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    // Four 5 x 7 matrices side by side in the input, one above the other in columns of the output.
    check_case(stream, {5, 7, 4, 28, 20, 7, 5}, 4, 0, 0, 7);
    std::uint32_t seed = 8;
    for (const std::int64_t bytes : {1, 2, 4, 8, 16, 12}) {
      for (const std::int64_t rows : {5, 33, 64}) {
        const std::int64_t cols = 96 - rows, batch = 3;
        check_case(stream, {rows, cols, batch, batch * cols, batch * rows, cols, rows}, bytes, 0, 0, seed += 2);
        check_case(stream, {rows, cols, batch, 0, batch * rows, 0, rows}, bytes, 0, 16, seed += 2);
        check_case(stream, {rows, cols, batch, batch * cols + 1, batch * rows + 5, cols, rows + 1}, bytes, 0, 0,
                   seed += 2);
      }
    }
  });
}

TEST_CASE("reference: several tiles of misaligned rows") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    for (std::int64_t bytes : {1, 2, 4, 8}) {
      const auto offset = static_cast<std::size_t>(bytes);
      check_case(stream, {300, 517}, bytes, offset, 0, 11);
      check_case(stream, {517, 300, 2, 307, 521}, bytes, 0, 3 * offset, 13);
      check_case(stream, {512, 528}, bytes, 0, offset, 15);
    }
  });
}

TEST_CASE("reference: misaligned rows, a few bytes more or less than tiles hold") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240608);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t written = (bytes == 1 ? 96 : bytes == 8 ? 480 : 224) / bytes;
      for (int i = 0; i < 24; ++i) {
        transpose_shape s;
        s.rows = std::max<std::int64_t>(pick(1, 4) * written + pick(-2, 32 / bytes + 2), 256 / bytes);
        s.cols = 256 / bytes + pick(0, 200 / bytes);
        if (pick(0, 2) == 0) s.batch = 2;
        if (pick(0, 1)) s.in_ld = s.cols + pick(0, 5);
        if (pick(0, 1)) s.out_ld = s.rows + pick(0, 5);
        const auto offset = [&] { return static_cast<std::size_t>(pick(0, 16) / bytes * bytes); };
        const auto in_offset = offset(), out_offset = offset();
        check_case(stream, s, bytes, in_offset, out_offset, random());
      }
    }
  });
}

TEST_CASE("reference: a few columns, a few rows") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240609);
    const auto pick = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (std::int64_t bytes : {1, 2, 4, 8, 16}) {
      for (std::int64_t few = 2; few <= 9; ++few) {
        // Whole chunks in the long direction, but for every fourth case.
        const std::int64_t chunk = 16 / bytes, ragged = pick(0, 3) == 0 ? pick(0, chunk) : 0;
        const std::int64_t many = pick(60, 600) * chunk + ragged, gap = pick(0, 1) * chunk;
        const std::int64_t batch = pick(1, 3), offset = pick(0, 5) == 0 ? bytes : 0;
        const auto in_offset = static_cast<std::size_t>(offset);
        check_case(stream, {many, few, batch, 0, many + gap}, bytes, in_offset, 0, random());
        check_case(stream, {few, many, batch, many + gap, 0}, bytes, in_offset, 0, random());
      }
    }
  });
}

TEST_CASE("reference: short rows of whole chunks") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240610);
    for (std::int64_t bytes : {1, 2, 4, 8, 16}) {
      for (std::int64_t row : {16, 32, 48, 64, 128}) {
        const std::int64_t lines = std::uniform_int_distribution<std::int64_t>(64, 300)(random), chunk = 16 / bytes;
        const std::int64_t rows = lines * chunk, batch = 1 + lines % 2, gap = lines % 3 * chunk;
        check_case(stream, {rows, row / bytes, batch, 0, rows + gap}, bytes, 0, 0, random());
      }
    }
  });
}

TEST_CASE("bounds: shapes that would like more shared memory than a device has" * doctest::skip(!support::has_simt)) {
  for (const char* name : {"simt:gtx280", "simt:k20"}) {
    CAPTURE(name);
    const auto device = twill::device::open(name);
    const twill::stream stream(device);
    check_case(stream, {1, 30000}, 16, 0, 0, 21);
    check_case(stream, {2, 20000}, 16, 0, 0, 23);
    check_case(stream, {2, 30000, 1, 30008, 34}, 8, 0, 0, 25);
    check_case(stream, {240, 400, 1, 0, 256}, 1, 0, 0, 27);
    check_case(stream, {32, 6064, 1, 0, 64}, 1, 0, 0, 29);
    check_case(stream, {322, 496, 1, 0, 358}, 2, 1, 8, 31);
    check_case(stream, {317, 2044}, 1, 4, 8, 33);
    check_case(stream, {1024, 901}, 1, 4, 4, 35);
  }
}

TEST_CASE("bounds: extents of zero launch nothing and succeed, with any pointers") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const float* none = nullptr;
    float* also_none = nullptr;
    CHECK_NOTHROW(twill::transpose(stream, none, also_none, {0, 5}));
    CHECK_NOTHROW(twill::transpose(stream, none, also_none, {5, 0}));
    CHECK_NOTHROW(twill::transpose(stream, none, also_none, {5, 5, 0}));
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_CASE("types: any trivially copyable type") {
  on_each_device([](const twill::device& device) {
    struct particle {
      float x, y, z;
    };
    const twill::stream stream(device);
    std::vector<std::complex<double>> host{{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}}, result(6);
    twill::buffer<std::complex<double>> a(device, 6), b(device, 6);
    a.upload(host, stream);
    twill::transpose(stream, a.data(), b.data(), {3, 2});
    b.download(result, stream);
    twill::buffer<particle> c(device, 6), d(device, 6);
    std::vector<particle> particles(6), moved(6);
    for (int i = 0; i < 6; ++i) particles[static_cast<std::size_t>(i)].z = static_cast<float>(i);
    c.upload(particles, stream);
    twill::transpose(stream, c.data(), d.data(), {3, 2});
    d.download(moved, stream);
    stream.wait();
    CHECK(result[1] == host[2]);
    CHECK(result[3] == host[1]);
    CHECK(moved[1].z == 2.0f);
  });
}

TEST_CASE("errors: the same on every device, before anything is touched") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    support::image in(stream, 4096, 0, 1), out(stream, 4096, 0, 2);
    auto* a = static_cast<float*>(in.data());
    auto* b = static_cast<float*>(out.data());
    float* none = nullptr;
    const auto fails = [&](const float* from, float* to, const transpose_shape& s) {
      return code_of([&] { twill::transpose(stream, from, to, s); });
    };
    const auto invalid = twill::errc::invalid_argument;
    CHECK(fails(none, b, {2, 2}) == invalid);
    CHECK(fails(a, none, {2, 2}) == invalid);
    CHECK(fails(a, a, {2, 2}) == invalid);
    CHECK(fails(a, a + 3, {2, 2}) == invalid);
    CHECK(fails(a, b, {4, 4, 2, 0, 0, 0, 1}) == invalid);
    CHECK(fails(a, b, {4, 4, 3, 0, 11, 0, 4}) == invalid);
    CHECK(fails(a, b, {-1, 2}) == invalid);
    CHECK(fails(a, b, {2, -1}) == invalid);
    CHECK(fails(a, b, {2, 2, -1}) == invalid);
    CHECK(fails(a, b, {2, 4, 1, 3}) == invalid);
    CHECK(fails(a, b, {4, 2, 1, 0, 3}) == invalid);
    CHECK(fails(a, b, {2, 2, 1, -5}) == invalid);
    CHECK(fails(a, b, {INT64_MAX, 2}) == invalid);
    CHECK(fails(a, b, {std::int64_t{1} << 31, std::int64_t{1} << 31}) == invalid);
    CHECK(fails(a, b, {2, 2, INT64_MAX, 0, 0, 4, 4}) == invalid);
    CHECK(fails(a, b, {2, 2, 1, INT64_MAX, 0, 1}) == invalid);
    CHECK(fails(a, b, {2, 2, 2, std::int64_t{1} << 60, 0, 2}) == invalid);  // interleaved; both rows exceed 63 bits
    auto* odd = reinterpret_cast<float*>(static_cast<char*>(in.data()) + 1);
    CHECK(fails(odd, b, {2, 2}) == invalid);
    CHECK(code_of([&] { twill::transpose_bytes(stream, a, b, 0, {2, 2}); }) == invalid);
    CHECK(code_of([&] { twill::transpose_bytes(stream, a, b, 65, {2, 2}); }) == invalid);
    CHECK(in.matches(stream));
    CHECK(out.matches(stream));
    CHECK_NOTHROW(twill::transpose(stream, a, b, {4, 4, 3, 0, 12, 0, 4}));              // side by side
    CHECK_NOTHROW(twill::transpose(stream, a, b, {1, 2, 1, INT64_MAX, 0, INT64_MAX}));  // distances of nothing
    CHECK_NOTHROW(twill::transpose(stream, a, a + 4, {2, 2}));                          // touching is not overlapping
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_SUITE_END();
