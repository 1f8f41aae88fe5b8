#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <twill/buffer.hpp>
#include <twill/error.hpp>

#include "support/backends.hpp"
#include "support/cases.hpp"

namespace {

using support::code_of;
using support::on_each_stream;

}  // namespace

TEST_SUITE_BEGIN("buffer");

TEST_CASE("round trip: host, device, device, host; also in the default stream") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    std::vector<std::uint32_t> host(100003), result(host.size());
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint32_t>(i * 2654435761u);
    for (const auto& s : {stream, twill::stream_ref(device, nullptr)}) {
      twill::buffer<std::uint32_t> a(device, host.size()), b(device, host.size());
      a.upload(host, s);
      twill::fill_bytes(s, b.data(), 0xA5, b.size_bytes());
      twill::copy_bytes(s, a.data() + 1, b.data() + 1, a.size_bytes() - 4);
      b.download(result, s);
      s.wait();
      CHECK(result[0] == 0xA5A5A5A5u);
      result[0] = host[0];
      CHECK(result == host);
    }
  });
}

TEST_CASE("memory: aligned, movable, empty for size 0") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    twill::buffer<double> a(device, 5), none(device, 0);
    CHECK(reinterpret_cast<std::uintptr_t>(a.data()) % 256 == 0);
    CHECK(none.data() == nullptr);
    CHECK_NOTHROW(none.upload(std::vector<double>{}, stream));
    const double* where = a.data();
    twill::buffer<double> b(std::move(a));
    CHECK(b.data() == where);
    b = twill::buffer<double>(device, 7);
    CHECK(b.size() == 7);
  });
}

TEST_CASE("errors: the same on every device") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    const auto invalid = twill::errc::invalid_argument;
    CHECK(code_of([&] { twill::raw_buffer(device, std::size_t{1} << 60); }) == twill::errc::out_of_memory);
    CHECK(code_of([&] { twill::buffer<double>(device, std::numeric_limits<std::size_t>::max() / 4); }) ==
          twill::errc::out_of_memory);
    twill::buffer<float> a(device, 8);
    CHECK(code_of([&] { a.upload(std::vector<float>(7), stream); }) == invalid);
    CHECK(code_of([&] { a.upload(static_cast<const float*>(nullptr), stream); }) == invalid);
    CHECK(code_of([&] { twill::copy_bytes(stream, a.data() + 1, a.data(), 16); }) == invalid);
    CHECK(code_of([&] { twill::fill_bytes(stream, nullptr, 0, 16); }) == invalid);
    CHECK_NOTHROW(twill::raw_buffer(device, 1 << 20));  // nothing is lost after a failure
  });
}

TEST_CASE("errors: a stream of another device" * doctest::skip(!support::has_simt)) {
  on_each_stream([](const twill::device& device, twill::stream_ref) {
    const auto elsewhere = twill::device::open(device.properties().name == "simt:k20" ? "simt" : "simt:k20");
    twill::buffer<float> a(device, 8);
    std::vector<float> host(8);
    CHECK(code_of([&] { a.download(host, twill::stream(elsewhere)); }) == twill::errc::invalid_argument);
  });
}

TEST_SUITE_END();
