#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/image.hpp"

namespace {

using support::code_of;
using support::on_each_device;
using twill::copy_shape;

std::int64_t span(std::int64_t rows, std::int64_t cols, std::int64_t pitch) {
  return rows * cols == 0 ? 0 : (rows - 1) * (pitch ? pitch : cols) + cols;
}

void copy_reference(const unsigned char* in, unsigned char* out, std::int64_t element_bytes, const copy_shape& s) {
  if (s.cols == 0) return;  // nothing may be null, and memcpy takes no null
  for (std::int64_t row = 0; row < s.rows; ++row) {
    std::memcpy(out + row * (s.out_ld ? s.out_ld : s.cols) * element_bytes,
                in + row * (s.in_ld ? s.in_ld : s.cols) * element_bytes,
                static_cast<std::size_t>(s.cols * element_bytes));
  }
}

// Device to device, host to device and back, each with every byte compared, guards and gaps included.
void check_case(twill::stream_ref stream, const copy_shape& s, std::int64_t bytes, std::size_t in_offset,
                std::size_t out_offset, std::uint32_t seed) {
  const auto in_bytes = static_cast<std::size_t>(span(s.rows, s.cols, s.in_ld) * bytes);
  const auto out_bytes = static_cast<std::size_t>(span(s.rows, s.cols, s.out_ld) * bytes);
  CAPTURE(s.rows);
  CAPTURE(s.cols);
  CAPTURE(s.in_ld);
  CAPTURE(s.out_ld);
  CAPTURE(bytes);
  CAPTURE(in_offset);
  CAPTURE(out_offset);
  const support::image in(stream, in_bytes, in_offset, seed);
  support::image out(stream, out_bytes, out_offset, seed + 1), sent(stream, out_bytes, out_offset, seed + 2);
  twill::copy_bytes(stream, in.data(), out.data(), bytes, s);
  copy_reference(in.expected(), out.expected(), bytes, s);
  CHECK(out.matches(stream));
  twill::upload_bytes(stream, in.expected(), sent.data(), bytes, s);
  copy_reference(in.expected(), sent.expected(), bytes, s);
  CHECK(sent.matches(stream));
  std::vector<unsigned char> expected(out_bytes, 7), found(out_bytes, 7);
  twill::download_bytes(stream, in.data(), found.data(), bytes, s);
  copy_reference(in.expected(), expected.data(), bytes, s);
  stream.wait();
  CHECK(found == expected);
}

}  // namespace

TEST_SUITE_BEGIN("copy");

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::vector<int> host{1, 2, 3, 0, 4, 5, 6, 0};
    twill::buffer<int> a(device, 8), b(device, 6);
    twill::upload(stream, host.data(), a.data(), 8);
    twill::copy(stream, a.data(), b.data(), {2, 3, 4, 3});
    std::vector<int> result(6), whole(8), picked(6);
    twill::download(stream, b.data(), result.data(), 6);
    twill::download(stream, a.data(), picked.data(), {2, 3, 4, 0});
    twill::buffer<int> c(device, 8);
    twill::copy(stream, a.data(), c.data(), 8);
    c.download(whole, stream);
    stream.wait();
    CHECK(result == std::vector<int>{1, 2, 3, 4, 5, 6});
    CHECK(picked == result);
    CHECK(whole == host);
  });
}

TEST_CASE("reference: random rows, pitches and misalignments") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240612);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 150; ++i) {
      copy_shape s;
      s.rows = pick(0, 3) == 0 ? pick(0, 300) : pick(0, 20);
      s.cols = pick(0, 3) == 0 ? pick(0, 3000) : pick(0, 100);
      if (pick(0, 1)) s.in_ld = s.cols + pick(0, 40);
      if (pick(0, 1)) s.out_ld = s.cols + pick(0, 40);
      const auto in_offset = static_cast<std::size_t>(pick(0, 16)), out_offset = static_cast<std::size_t>(pick(0, 16));
      check_case(stream, s, pick(0, 1) ? 1 << pick(0, 4) : pick(1, 20), in_offset, out_offset, random());
    }
  });
}

TEST_CASE("reference: short rows, with gaps of all kinds on either side") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 4100;
    for (const std::int64_t cols : {1, 3, 8, 31, 33, 62, 100, 124, 200, 255, 257, 500}) {
      const std::int64_t pitches[] = {0, cols + 1, (cols + 32) / 32 * 32, 2 * cols, cols + 100};
      const std::int64_t rows = 30000 / cols + 5;
      for (const std::int64_t in_ld : pitches) {
        for (const std::int64_t out_ld : pitches) {
          const bool odd = in_ld == out_ld;
          check_case(stream, {rows, cols, in_ld, out_ld}, 1, odd ? 5 : 16, odd ? 3 : 32, seed += 3);
        }
      }
    }
    for (const std::int64_t bytes : {2, 3, 4, 8, 12, 16}) {
      const auto natural = static_cast<std::size_t>(bytes & -bytes);
      for (const std::int64_t rows : {2, 5, 1003}) {
        check_case(stream, {rows, 31, 32, 0}, bytes, natural, 0, seed += 3);
        check_case(stream, {rows, 31, 0, 32}, bytes, 0, natural, seed += 3);
        check_case(stream, {rows, 5, 6, 11}, bytes, 3 * natural, natural, seed += 3);
      }
    }
  });
}

TEST_CASE("reference: one long row, at every distance of the two sides") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    for (std::size_t offset = 0; offset < 8; ++offset) check_case(stream, {1, 40001}, 1, 3, offset, 31);
  });
}

// Longer than the kernel of rows counts: several rows for it, and a rest.
TEST_CASE("reference: one row beyond 64 MiB") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const std::size_t bytes = (std::size_t{1} << 26) + 4099;
    std::vector<unsigned char> host(bytes + 64);
    std::uint32_t word = 1;
    for (unsigned char& byte : host) byte = static_cast<unsigned char>((word = word * 1664525u + 1013904223u) >> 24);
    twill::buffer<unsigned char> in(device, bytes + 64), out(device, bytes + 64);
    in.upload(host, stream);
    twill::fill_bytes(stream, out.data(), 0x5a, out.size_bytes());
    twill::copy(stream, in.data() + 3, out.data() + 16, static_cast<std::int64_t>(bytes));
    std::vector<unsigned char> found(bytes + 64);
    out.download(found, stream);
    stream.wait();
    CHECK(std::memcmp(found.data() + 16, host.data() + 3, bytes) == 0);
    CHECK(std::count(found.begin(), found.begin() + 16, 0x5a) == 16);
    CHECK(std::count(found.end() - 48, found.end(), 0x5a) == 48);
  });
}

TEST_CASE("bounds: rows side by side in one array") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    for (const std::int64_t cols : {64, 61}) {
      support::image both(stream, 40 * 128, 0, 3);
      auto* data = static_cast<unsigned char*>(both.data());
      twill::copy(stream, data, data + 64, {40, cols, 128, 128});
      copy_reference(both.expected(), both.expected() + 64, 1, {40, cols, 128, 128});
      CHECK(both.matches(stream));
      twill::copy(stream, data + 128 + 64, data, {39, cols, 128, 128});
      copy_reference(both.expected() + 128 + 64, both.expected(), 1, {39, cols, 128, 128});
      CHECK(both.matches(stream));
    }
  });
}

TEST_CASE("bounds: rows of the host with a pitch of 2 GiB") {
  const std::int64_t pitch = (std::int64_t{1} << 31) + 64, cols = 100;
  // Memory that is never touched is never there.
  const std::unique_ptr<unsigned char[]> host(new unsigned char[static_cast<std::size_t>(pitch + cols)]);
  on_each_device([&](const twill::device& device) {
    const twill::stream stream(device);
    support::image both(stream, 2 * cols, 0, 3);
    auto* data = static_cast<unsigned char*>(both.data());
    for (std::int64_t i = 0; i < cols; ++i) host[i] = static_cast<unsigned char>(i), host[pitch + i] = 255 - host[i];
    twill::upload(stream, host.get(), data, {2, cols, pitch, 0});
    copy_reference(host.get(), both.expected(), 1, {2, cols, pitch, 0});
    CHECK(both.matches(stream));
    std::memset(host.get(), 0, cols);
    std::memset(host.get() + pitch, 0, cols);
    twill::download(stream, data, host.get(), {2, cols, 0, pitch});
    stream.wait();
    CHECK(std::memcmp(host.get(), both.expected(), cols) == 0);
    CHECK(std::memcmp(host.get() + pitch, both.expected() + cols, cols) == 0);
  });
}

TEST_CASE("errors: the same on every device, before anything is touched") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    support::image in(stream, 4096, 0, 1), out(stream, 4096, 0, 2);
    auto* a = static_cast<float*>(in.data());
    auto* b = static_cast<float*>(out.data());
    float* none = nullptr;
    const auto fails = [&](const float* from, float* to, const copy_shape& s) {
      const auto code = code_of([&] { twill::copy(stream, from, to, s); });
      CHECK(code_of([&] { twill::upload(stream, from, to, s); }) == code);
      CHECK(code_of([&] { twill::download(stream, from, to, s); }) == code);
      return code;
    };
    const auto invalid = twill::errc::invalid_argument;
    CHECK(fails(none, b, {2, 2}) == invalid);
    CHECK(fails(a, none, {2, 2}) == invalid);
    CHECK(fails(a, a, {2, 2}) == invalid);
    CHECK(fails(a, a + 1, {2, 2, 4, 4}) == invalid);
    CHECK(fails(a, a + 3, {2, 2, 4, 4}) == invalid);
    CHECK(fails(a, a + 2, {2, 2, 4, 5}) == invalid);
    CHECK(fails(a, b, {-1, 2}) == invalid);
    CHECK(fails(a, b, {2, -1}) == invalid);
    CHECK(fails(a, b, {-1, 0}) == invalid);
    CHECK(fails(a, b, {2, 4, 3}) == invalid);
    CHECK(fails(a, b, {2, 4, 4, 3}) == invalid);
    CHECK(fails(a, b, {2, 4, -4, 4}) == invalid);
    CHECK(fails(a, b, {INT64_MAX, 2}) == invalid);
    CHECK(fails(a, b, {2, 2, INT64_MAX / 2}) == invalid);
    CHECK(fails(reinterpret_cast<float*>(static_cast<char*>(in.data()) + 2), b, {2, 2}) == invalid);
    CHECK(code_of([&] { twill::copy_bytes(stream, a, b, 0, {2, 2}); }) == invalid);
    CHECK_THROWS_WITH_AS(twill::copy(stream, a, b, -1),
                         "copy: the number of elements is negative (it is -1) give 0 or more", twill::error);
    CHECK(in.matches(stream));
    CHECK(out.matches(stream));
    CHECK_NOTHROW(twill::copy(stream, none, static_cast<float*>(nullptr), {0, 2}));
    CHECK_NOTHROW(twill::copy(stream, none, static_cast<float*>(nullptr), 0));
    CHECK_NOTHROW(twill::copy(stream, a, b, {1, 2, INT64_MAX, INT64_MAX}));  // distances of nothing
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_SUITE_END();
