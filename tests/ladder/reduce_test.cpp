#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include <twill/ladder/reduce.hpp>
#include <twill/twill.hpp>

#include "support/cases.hpp"

namespace {

using support::on_each_stream;

// Whole numbers: sums of them are exact in any order.
template <class T>
std::vector<T> numbers(std::int64_t count) {
  std::mt19937 random(static_cast<unsigned>(count) + 1);
  std::vector<T> list(static_cast<std::size_t>(count));
  for (auto& each : list) each = static_cast<T>(static_cast<int>(random() % 201) - 100);
  return list;
}

template <class T>
T rung_sum(twill::stream_ref stream, const twill::rung& rung, const std::vector<T>& in,
           const twill::rung_options& options) {
  const auto count = static_cast<std::int64_t>(in.size());
  constexpr auto type = twill::element_type_of<T>;
  twill::buffer<T> a(stream.on(), in.size()), out(stream.on(), 4);
  const std::vector<T> guard{T(77), T(78), T(79), T(80)};
  twill::raw_buffer scratch(stream.on(), twill::reduce_rung_scratch_bytes(stream.on(), rung.name, type, count));
  a.upload(in, stream);
  out.upload(guard, stream);
  twill::reduce_rung(stream, rung.name, a.data(), out.data(), type, count, scratch, options);
  std::vector<T> found(4);
  out.download(found, stream);
  stream.wait();
  for (std::size_t i = 1; i < 4; ++i) CHECK(found[i] == guard[i]);
  return found[0];
}

template <class T>
void check_rung(twill::stream_ref stream, const twill::rung& rung, std::int64_t count,
                const twill::rung_options& options = {}) {
  const auto in = numbers<T>(count);
  T expected = 0;
  for (const T each : in) expected = static_cast<T>(expected + each);
  const std::string name(rung.name);
  CAPTURE(name);
  CAPTURE(count);
  CAPTURE(options.block.x);
  CAPTURE(options.repeats);
  if (rung.name == "cub" && sizeof(T) == 8 && !std::is_floating_point<T>::value) {
    CHECK(support::code_of([&] { rung_sum(stream, rung, in, options); }) == twill::errc::unsupported);
    return;
  }
  const T found = rung_sum(stream, rung, in, options);
  if (rung.promise == twill::rung_promise::result) CHECK(found == expected);
}

}  // namespace

TEST_SUITE_BEGIN("reduce ladder");

TEST_CASE("names: every device has what the ladder promises") {
  on_each_stream([](const twill::device& device, twill::stream_ref) {
    std::set<std::string> names;
    for (const auto& rung : twill::reduce_rungs(device)) {
      CHECK(rung.op == "reduce");
      CHECK_FALSE(rung.lesson.empty());
      CHECK_FALSE(rung.source.empty());
      CHECK(names.insert(std::string(rung.name)).second);
    }
    std::vector<std::string> needed{"cpu-naive", "cpu-tuned", "read", "memcpy"};
    if (device.properties().backend != "cpu") {
      needed = {"interleaved-divergent", "interleaved-strided", "sequential", "first-add", "unroll-last-warp",
                "unroll-complete",       "multiple-per-thread", "tuned",      "read",      "memcpy"};
    }
    for (const auto& name : needed) {
      CAPTURE(name);
      CHECK(names.count(name) == 1);
    }
  });
}

TEST_CASE("reference: every rung and block, lengths around blocks and passes") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const auto& rung : twill::reduce_rungs(device)) {
      auto blocks = twill::reduce_rung_blocks(device, rung.name, twill::element_type::f32);
      if (blocks.empty()) blocks.push_back({});
      for (const auto block : blocks) {
        for (const std::int64_t count : {1, 2, 31, 63, 64, 65, 127, 513, 2 * 128 * 256 + 1}) {
          check_rung<float>(stream, rung, count, {block, 1});
        }
      }
    }
  });
}

TEST_CASE("reference: every type; integers wrap around") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const auto& rung : twill::reduce_rungs(device)) {
      check_rung<std::int32_t>(stream, rung, 70001);
      check_rung<std::uint32_t>(stream, rung, 1000);
      check_rung<std::int64_t>(stream, rung, 1000);
      check_rung<std::uint64_t>(stream, rung, 1000);
      check_rung<double>(stream, rung, 1000);
      if (rung.promise != twill::rung_promise::result) continue;
      const std::vector<std::int32_t> large(300, 0x7fffffff);
      CHECK(rung_sum(stream, rung, large, {}) == -300 - static_cast<std::int32_t>(300u * 0x80000000u));
    }
  });
}

TEST_CASE("reference: repeats inside the kernel leave the same result") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const auto& rung : twill::reduce_rungs(device)) check_rung<float>(stream, rung, 5000, {{}, 3});
  });
}

TEST_CASE("bounds: nothing to sum gives 0") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const auto& rung : twill::reduce_rungs(device)) {
      if (rung.promise != twill::rung_promise::result) continue;
      twill::buffer<float> out(device, 1);
      out.upload(std::vector<float>{5}, stream);
      twill::reduce_rung(stream, rung.name, nullptr, out.data(), twill::element_type::f32, 0, {});
      std::vector<float> found(1);
      out.download(found, stream);
      stream.wait();
      CHECK(found[0] == 0);
    }
  });
}

TEST_CASE("errors: the same on every device") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    twill::raw_buffer memory(device, 1 << 20);
    auto* in = static_cast<char*>(memory.data());
    char* out = in + 4096;
    char* scratch = in + 8192;
    const std::size_t bytes = (1 << 20) - 8192;
    const std::string first(twill::reduce_rungs(device)[0].name);
    const auto code = [&](std::string_view name, const void* from, void* to, twill::element_type type,
                          std::int64_t count, void* space, std::size_t space_bytes, twill::rung_options options) {
      try {
        twill::reduce_rung(stream, name, from, to, type, count, {space, space_bytes}, options);
      } catch (const twill::error& e) {
        return e.code();
      }
      FAIL("nothing was thrown");
      return twill::errc{};
    };
    const auto invalid = twill::errc::invalid_argument;
    const auto f32 = twill::element_type::f32;
    CHECK(code("no-such-rung", in, out, f32, 9, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, out, twill::element_type::f16, 9, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, out, f32, -1, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, out, f32, INT64_MAX, scratch, bytes, {}) == invalid);
    CHECK(code(first, nullptr, out, f32, 9, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, nullptr, f32, 9, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, out, f32, 9, nullptr, bytes, {}) == invalid);
    CHECK(code(first, in + 4, out, f32, 9, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, in + 16, f32, 9, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, scratch, f32, 9, scratch, bytes, {}) == invalid);
    CHECK(code(first, in, out, f32, 9, scratch, 100, {}) == invalid);
    CHECK(code(first, in, out, f32, 9, scratch, bytes, {{}, 0}) == invalid);
    if (device.properties().backend != "cpu") {
      CHECK(code("sequential", in, out, f32, 9, scratch, bytes, {{7, 1}, 1}) == invalid);
    }
  });
}

TEST_SUITE_END();
