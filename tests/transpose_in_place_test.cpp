#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/backends.hpp"
#include "support/cases.hpp"
#include "support/image.hpp"
#include "support/transpose_in_place_reference.hpp"

namespace {

using support::code_of;
using support::on_each_device;
using twill::scratch_size;
using twill::transpose_in_place_shape;

// One case against the plain loops; guards, gaps and what surrounds the scratch memory are compared as well.
void check_case(twill::stream_ref stream, const transpose_in_place_shape& s, std::int64_t element_bytes,
                std::size_t offset, scratch_size size, std::uint32_t seed) {
  support::image data(stream, static_cast<std::size_t>(support::elements_of(s) * element_bytes), offset, seed);
  const std::size_t scratch_bytes = twill::transpose_in_place_scratch_bytes(twill::device(), element_bytes, s, size);
  support::image scratch(stream, scratch_bytes, offset / 2, seed + 1);
  twill::transpose_in_place_bytes(stream, data.data(), element_bytes, s, {scratch.data(), scratch_bytes});
  support::transpose_in_place_reference(data.expected(), element_bytes, s);
  CAPTURE(element_bytes);
  CAPTURE(s.rows);
  CAPTURE(s.cols);
  CAPTURE(s.batch);
  CAPTURE(s.ld);
  CAPTURE(s.stride);
  CAPTURE(offset);
  CAPTURE(scratch_bytes);
  CHECK(data.matches(stream));
  CHECK(scratch.guards_match(stream));
}

}  // namespace

TEST_SUITE_BEGIN("transpose_in_place");

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    twill::buffer<float> a(device, 6), b(device, 4);
    a.upload({1, 2, 3, 4, 5, 6}, stream);
    b.upload({1, 2, 3, 4}, stream);
    const twill::raw_buffer scratch(device,
                                    twill::transpose_in_place_scratch_bytes(twill::device(), sizeof(float), {2, 3}));
    twill::transpose_in_place(stream, a.data(), {2, 3}, scratch);
    twill::transpose_in_place(stream, b.data(), {2, 2});
    std::vector<float> wide(6), square(4);
    a.download(wide, stream);
    b.download(square, stream);
    stream.wait();
    CHECK(wide == std::vector<float>{1, 4, 2, 5, 3, 6});
    CHECK(square == std::vector<float>{1, 3, 2, 4});
  });
}

TEST_CASE("reference: square matrices around tile edges, every element size") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    for (std::int64_t bytes : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 63, 64}) {
      for (std::int64_t n : {0, 1, 2, 7, 31, 32, 33, 64, 127, 128, 129, 160, 272}) {
        if (n > 129 && bytes > 16) continue;
        check_case(stream, {n, n}, bytes, 0, scratch_size::least, seed += 2);
        if (n > 0) check_case(stream, {n, n, 2, n + 3, n * (n + 3) + 1}, bytes, 1, scratch_size::least, seed += 2);
        if (n > 0) check_case(stream, {n, n, 2, n + 16, n * (n + 16)}, bytes, 0, scratch_size::least, seed += 2);
      }
    }
  });
}

TEST_CASE("reference: square matrices of several pairs of tiles, on the CPU") {
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  std::uint32_t seed = 1;
  for (std::int64_t bytes : {1, 2, 3, 4, 8, 12, 16, 64}) {
    for (std::int64_t tiles : {2, 3, 4, 5}) {
      const std::int64_t n = tiles * (bytes <= 2 ? 128 : bytes <= 8 ? 64 : bytes <= 16 ? 32 : 16);
      check_case(stream, {n, n}, bytes, 0, scratch_size::least, seed += 2);
      check_case(stream, {n - 1, n - 1, 3, n + 5}, bytes, bytes, scratch_size::least, seed += 2);
    }
  }
}

TEST_CASE("reference: square matrices side by side in longer rows") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    check_case(stream, {40, 40, 3, 150, 50}, 4, 0, scratch_size::least, 7);
    check_case(stream, {40, 40, 3, 160, 48}, 2, 0, scratch_size::least, 9);
  });
}

TEST_CASE("reference: rectangles, every element size, least and fast scratch") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    for (std::int64_t bytes : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 63, 64}) {
      for (const auto size : {scratch_size::least, scratch_size::fast}) {
        for (auto [rows, cols] : {std::pair{1, 9}, {5, 7}, {7, 5}, {2, 600}, {33, 31}, {96, 64}, {300, 200}}) {
          check_case(stream, {rows, cols}, bytes, 0, size, seed += 2);
          check_case(stream, {rows, cols, 3, 0, rows * cols + 5}, bytes, 1, size, seed += 2);
        }
      }
    }
  });
}

TEST_CASE("reference: rectangles with too long rows and columns for shared memory") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    for (auto [rows, cols] : {std::pair{640, 512}, {512, 641}, {3, 100000}, {70000, 4}, {17, 9000}}) {
      for (std::int64_t bytes : {1, 12}) {
        check_case(stream, {rows, cols}, bytes, 0, scratch_size::least, seed += 2);
      }
      check_case(stream, {rows, cols, 2, 0, rows * cols + 3}, 2, 6, scratch_size::least, seed += 2);
    }
  });
}

TEST_CASE("reference: rows and columns longer than a worker's buffer, on the CPU" *
          doctest::skip(!support::has_cpu || TWILL_SANITIZED)) {
  const twill::stream stream(twill::device::open("cpu"));
  check_case(stream, {2050, 2052}, 64, 0, scratch_size::least, 3);
}

TEST_CASE("reference: a device with little shared memory" * doctest::skip(!support::has_simt)) {
  const auto device = twill::device::open("simt:gtx280");
  const twill::stream stream(device);
  std::uint32_t seed = 1;
  for (std::int64_t bytes : {1, 12}) {
    check_case(stream, {70, 70, 1, 80}, bytes, 0, scratch_size::least, seed += 2);
    check_case(stream, {64, 64}, bytes, 0, scratch_size::least, seed += 2);
    for (auto [rows, cols] : {std::pair{150, 250}, {2, 9000}, {9000, 3}, {300, 280}}) {
      check_case(stream, {rows, cols}, bytes, 0, scratch_size::least, seed += 2);
    }
  }
  check_case(stream, {130, 4101}, 16, 0, scratch_size::least, seed);  // strips of vectors
}

TEST_CASE("reference: a device with much shared memory" * doctest::skip(!support::has_simt)) {
  const auto device = twill::device::open("simt:h200");
  const twill::stream stream(device);
  const std::int64_t batch = device.properties().multiprocessors / 4;
  const struct {
    std::int64_t bytes, rows, cols;
  } matrices[] = {{1, 450, 421}, {1, 229, 993}, {2, 97, 700}, {2, 281, 281}, {4, 190, 212}, {12, 93, 93}};
  std::uint32_t seed = 1;
  for (const auto& m : matrices) {
    check_case(stream, {m.rows, m.cols, batch}, m.bytes, static_cast<std::size_t>(m.bytes), scratch_size::fast,
               seed += 2);
    check_case(stream, {m.rows, m.cols, batch, 0, m.rows * m.cols + 3}, m.bytes, 0, scratch_size::fast, seed += 2);
  }
}

TEST_CASE("bounds: many small matrices, with gaps and without") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    for (std::int64_t bytes : {1, 2, 3, 4, 8, 16}) {
      for (auto [rows, cols] : {std::pair{2, 2}, {3, 3}, {5, 7}, {8, 8}, {33, 31}, {16, 64}}) {
        check_case(stream, {rows, cols, 333}, bytes, 0, scratch_size::least, seed += 2);
        check_case(stream, {rows, cols, 333}, bytes, 5, scratch_size::least, seed += 2);
        check_case(stream, {rows, cols, 33, 0, rows * cols + 1}, bytes, 0, scratch_size::least, seed += 2);
      }
    }
  });
}

TEST_CASE("reference: enough matrices for all multiprocessors, as large as a block's shared memory") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::int64_t batch = device.properties().multiprocessors + 1;
    const struct {
      std::int64_t bytes, rows, cols;
    } matrices[] = {{1, 151, 151}, {1, 96, 96},   {1, 450, 421}, {2, 281, 281}, {2, 97, 700},
                    {4, 87, 87},   {4, 190, 212}, {8, 5, 1964},  {16, 75, 75},  {16, 17, 601},
                    {12, 93, 93},  {6, 60, 221},  {3, 70, 150},  {4, 400, 141}, {1, 229, 993}};
    std::uint32_t seed = 1;
    for (const auto& m : matrices) {
      check_case(stream, {m.rows, m.cols, batch}, m.bytes, static_cast<std::size_t>(m.bytes), scratch_size::fast,
                 seed += 2);
      check_case(stream, {m.rows, m.cols, batch, 0, m.rows * m.cols + 3}, m.bytes, 0, scratch_size::least, seed += 2);
    }
  });
}

TEST_CASE("errors: the same on every device, before anything is touched") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    support::image data(stream, 4096, 0, 1), scratch(stream, 4096, 0, 2);
    auto* a = static_cast<float*>(data.data());
    auto* s = scratch.data();
    float* none = nullptr;
    const auto fails = [&](float* at, const transpose_in_place_shape& shape, void* with, std::size_t bytes) {
      return code_of([&] { twill::transpose_in_place(stream, at, shape, {with, bytes}); });
    };
    const auto invalid = twill::errc::invalid_argument;
    CHECK(fails(none, {2, 2}, nullptr, 0) == invalid);
    CHECK(fails(a, {-1, 2}, s, 64) == invalid);
    CHECK(fails(a, {2, -1}, s, 64) == invalid);
    CHECK(fails(a, {0, -1}, s, 64) == invalid);
    CHECK(fails(a, {2, 2, -1}, s, 64) == invalid);
    CHECK(fails(a, {2, 2, 1, -1}, s, 64) == invalid);
    CHECK(fails(a, {2, 2, 1, 1}, s, 64) == invalid);
    CHECK(fails(a, {2, 3, 1, 4}, s, 64) == invalid);
    CHECK(fails(a, {2, 2, 2, 0, 3}, s, 64) == invalid);
    CHECK(fails(a, {2, 2, 2, 4, 3}, s, 64) == invalid);
    CHECK(fails(a, {2, 3}, nullptr, 0) == invalid);
    CHECK(fails(a, {2, 3}, nullptr, 12) == invalid);
    CHECK(fails(a, {2, 3}, s, 11) == invalid);
    CHECK(fails(a, {2, 3}, a + 5, 12) == invalid);
    CHECK(fails(a, {INT64_MAX, 2}, s, 64) == invalid);
    CHECK(fails(a, {2, 2, INT64_MAX, 0, 4}, s, 64) == invalid);
    CHECK(fails(reinterpret_cast<float*>(static_cast<char*>(data.data()) + 1), {2, 2}, s, 64) == invalid);
    CHECK(code_of([&] { twill::transpose_in_place_bytes(stream, a, 0, {2, 2}); }) == invalid);
    CHECK(code_of([&] { twill::transpose_in_place_bytes(stream, a, 65, {2, 2}); }) == invalid);
    CHECK(code_of([&] { twill::transpose_in_place_scratch_bytes(twill::device(), 4, {2, 3, 1, 5}); }) == invalid);
    CHECK(data.matches(stream));
    CHECK(scratch.matches(stream));
    CHECK_NOTHROW(twill::transpose_in_place(stream, none, {0, 5}));
    CHECK_NOTHROW(twill::transpose_in_place(stream, none, {5, 5, 0}));
    CHECK_NOTHROW(twill::transpose_in_place(stream, none, {1, 5}));
    CHECK_NOTHROW(twill::transpose_in_place(stream, a, {2, 3}, {a + 6, 12}));  // touching is not overlapping
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_CASE("scratch: what is asked for") {
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 4, {100, 100}) == 0);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 4, {100, 100}, scratch_size::fast) == 0);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 4, {1, 100}, scratch_size::fast) == 0);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 4, {10, 100}) == 400);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 4, {100, 10}) == 400);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 4, {10, 100}, scratch_size::fast) == 4000);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 4, {10, 100, 5}, scratch_size::fast) == 20000);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 1, {1024, 512, 1000}, scratch_size::fast) ==
        64u * 1024 * 512);
  CHECK(twill::transpose_in_place_scratch_bytes(twill::device(), 8, {20000, 10000}, scratch_size::fast) == 1600000000u);
}

TEST_SUITE_END();
