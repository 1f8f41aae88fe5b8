#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/image.hpp"

namespace {

using support::code_of;
using support::on_each_device;

void reverse_reference(const unsigned char* in, unsigned char* out, std::int64_t count, std::int64_t bytes) {
  const std::vector<unsigned char> held(in, in + count * bytes);  // in may be out
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * bytes, held.data() + (count - 1 - i) * bytes, static_cast<std::size_t>(bytes));
  }
}

// Out of place and in place, every byte compared, guards included.
void check_case(twill::stream_ref stream, std::int64_t count, std::int64_t bytes, std::size_t in_offset,
                std::size_t out_offset, std::uint32_t seed) {
  const auto size = static_cast<std::size_t>(count * bytes);
  support::image in(stream, size, in_offset, seed), out(stream, size, out_offset, seed + 1);
  CAPTURE(count);
  CAPTURE(bytes);
  CAPTURE(in_offset);
  CAPTURE(out_offset);
  twill::reverse_bytes(stream, in.data(), out.data(), bytes, count);
  reverse_reference(in.expected(), out.expected(), count, bytes);
  CHECK(out.matches(stream));
  CHECK(in.matches(stream));
  twill::reverse_in_place_bytes(stream, in.data(), bytes, count);
  reverse_reference(in.expected(), in.expected(), count, bytes);
  CHECK(in.matches(stream));
}

}  // namespace

TEST_SUITE_BEGIN("reverse");

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    twill::buffer<short> a(device, 5), b(device, 5);
    a.upload(std::vector<short>{1, 2, 3, 4, 5}, stream);
    twill::reverse(stream, a.data(), b.data(), 5);
    std::vector<short> result(5), first(5);
    b.download(result, stream);
    twill::reverse_in_place(stream, b.data(), 4);
    b.download(first, stream);
    stream.wait();
    CHECK(result == std::vector<short>{5, 4, 3, 2, 1});
    CHECK(first == std::vector<short>{2, 3, 4, 5, 1});
  });
}

TEST_CASE("reference: every element size, lengths around chunks") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    for (std::int64_t bytes = 1; bytes <= 64; ++bytes) {
      for (std::int64_t count : {1, 2, 3, 15, 16, 17, 33, 64, 333}) check_case(stream, count, bytes, 0, 0, seed += 3);
    }
  });
}

TEST_CASE("reference: several blocks, misaligned") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240613);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 100; ++i) {
      const std::int64_t bytes = pick(0, 1) ? 1 << pick(0, 4) : pick(1, 64);
      const auto in_offset = static_cast<std::size_t>(pick(0, 32)), out_offset = static_cast<std::size_t>(pick(0, 32));
      check_case(stream, pick(1, pick(0, 4) == 0 ? 60000 : 3000), bytes, in_offset, out_offset, random());
    }
  });
}

TEST_CASE("reference: arrays beyond the caches' share") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 5;
    for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
      // Lines begin at an element, at the array or after some; or nowhere, for elements of more than a byte.
      for (const std::size_t out_offset : {std::size_t{0}, static_cast<std::size_t>(3 * bytes), std::size_t{1}}) {
        check_case(stream, (std::int64_t{4} << 20) / bytes + 77, bytes, 5, out_offset, seed += 3);
      }
    }
  });
}

TEST_CASE("errors: the same on every device, before anything is touched") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    support::image in(stream, 4096, 0, 1), out(stream, 4096, 0, 2);
    auto* a = static_cast<float*>(in.data());
    auto* b = static_cast<float*>(out.data());
    float* none = nullptr;
    const auto invalid = twill::errc::invalid_argument;
    const auto fails = [&](const float* from, float* to, std::int64_t count) {
      return code_of([&] { twill::reverse(stream, from, to, count); });
    };
    CHECK(fails(none, b, 4) == invalid);
    CHECK(fails(a, none, 4) == invalid);
    CHECK(fails(a, a, 4) == invalid);
    CHECK(fails(a, a + 3, 4) == invalid);
    CHECK(fails(a, b, -1) == invalid);
    CHECK(fails(a, b, INT64_MAX / 2) == invalid);
    CHECK(fails(reinterpret_cast<float*>(static_cast<char*>(in.data()) + 2), b, 4) == invalid);
    CHECK(code_of([&] { twill::reverse_in_place(stream, none, 4); }) == invalid);
    CHECK(code_of([&] { twill::reverse_in_place(stream, a, -1); }) == invalid);
    CHECK(code_of([&] { twill::reverse_bytes(stream, a, b, 0, 4); }) == invalid);
    CHECK(code_of([&] { twill::reverse_bytes(stream, a, b, 65, 4); }) == invalid);
    CHECK(in.matches(stream));
    CHECK(out.matches(stream));
    CHECK_NOTHROW(twill::reverse(stream, none, static_cast<float*>(nullptr), 0));
    CHECK_NOTHROW(twill::reverse_in_place(stream, static_cast<float*>(nullptr), 0));
    CHECK_NOTHROW(twill::reverse(stream, a, a + 4, 4));  // touching is not overlapping
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_SUITE_END();
