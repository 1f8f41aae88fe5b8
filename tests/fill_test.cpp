#include <doctest/doctest.h>

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/dice.hpp"
#include "support/image.hpp"

namespace {

using support::code_of;
using support::on_each_device;

/// Every byte compared, those before and after the output included.
void check_case(twill::stream_ref stream, std::int64_t count, std::int64_t bytes, std::size_t offset,
                std::uint32_t seed) {
  CAPTURE(count);
  CAPTURE(bytes);
  CAPTURE(offset);
  support::image out(stream, static_cast<std::size_t>(count * bytes), offset, seed);
  std::vector<unsigned char> value(static_cast<std::size_t>(bytes));
  std::mt19937 random(seed);
  for (auto& each : value) each = static_cast<unsigned char>(random());
  twill::fill_bytes(stream, out.data(), value.data(), bytes, count);
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(out.expected() + i * bytes, value.data(), value.size());
  value.assign(value.size(), 0);  // was read by the call
  CHECK(out.matches(stream));
}

}  // namespace

TEST_SUITE_BEGIN("fill");

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    twill::buffer<std::complex<float>> numbers(device, 3);
    twill::buffer<short> shorts(device, 4);
    twill::fill(stream, numbers.data(), {1.5f, -2.0f}, numbers.size());
    twill::fill(stream, shorts.data(), 300, shorts.size());
    twill::fill(stream, shorts.data() + 1, -1, 2);  // bytes that are all equal
    std::vector<std::complex<float>> found(3);
    std::vector<short> found_shorts(4);
    numbers.download(found, stream);
    shorts.download(found_shorts, stream);
    stream.wait();
    CHECK(found == std::vector<std::complex<float>>(3, {1.5f, -2.0f}));
    CHECK(found_shorts == std::vector<short>{300, -1, -1, 300});
  });
}

TEST_CASE("reference: every element size, lengths around vectors, misaligned") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    for (std::int64_t bytes = 1; bytes <= 64; ++bytes) {
      for (const std::int64_t count : {1, 2, 5, 16, 33}) {
        check_case(stream, count, bytes, static_cast<std::size_t>(seed % 19), seed);
        ++seed;
      }
    }
  });
}

TEST_CASE("reference: several blocks") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 3;
    for (const std::int64_t bytes : {1, 2, 3, 4, 8, 12, 16, 43, 63, 64}) {
      for (const std::size_t offset :
           {std::size_t{0}, std::size_t{16}, static_cast<std::size_t>(bytes), std::size_t{7}}) {
        check_case(stream, 300007 / bytes, bytes, offset, seed += 2);
      }
    }
  });
}

TEST_CASE("reference: calls drawn from a fixed seed") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    support::on_random_rounds(20261122, [&](std::uint64_t seed, int cases) {
      support::dice d(seed);
      for (int i = 0; i < cases; ++i) {
        const std::int64_t bytes = d.element_bytes(), count = d.extent(std::max<std::int64_t>(1, d.budget() / bytes));
        check_case(stream, count, bytes, d.offset(), static_cast<std::uint32_t>(seed) + static_cast<std::uint32_t>(i));
      }
    });
  });
}

TEST_CASE("errors: the same on every device, before anything is touched") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const support::image out(stream, 4096, 0, 1);
    auto* floats = static_cast<float*>(out.data());
    const auto invalid = twill::errc::invalid_argument;
    const std::array<unsigned char, 65> value{1};
    const auto fails = [&](void* to, const void* from, std::int64_t bytes, std::int64_t count) {
      return code_of([&] { twill::fill_bytes(stream, to, from, bytes, count); }) == invalid;
    };
    CHECK(fails(nullptr, value.data(), 3, 4));
    CHECK(fails(floats, nullptr, 3, 4));
    CHECK(fails(floats, value.data(), 0, 4));
    CHECK(fails(floats, value.data(), 65, 4));
    CHECK(fails(floats, value.data(), 3, -1));
    CHECK(fails(floats, value.data(), 3, INT64_MAX / 2));
    CHECK(code_of([&] { twill::fill(stream, reinterpret_cast<float*>(static_cast<char*>(out.data()) + 2), 1, 4); }) ==
          invalid);
    CHECK(code_of([&] { twill::fill_bytes(stream, floats, 0, static_cast<std::size_t>(-4)); }) == invalid);
    CHECK(out.matches(stream));
    CHECK_NOTHROW(twill::fill(stream, static_cast<float*>(nullptr), 1, 0));
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_SUITE_END();
