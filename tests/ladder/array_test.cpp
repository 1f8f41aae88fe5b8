#include <doctest/doctest.h>

#include <complex>
#include <cstring>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <twill/ladder/array.hpp>
#include <twill/ladder/sieve.hpp>
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
std::vector<T> expected_of(std::string_view op, const twill::rung& rung, const std::vector<T>& in) {
  if (rung.promise == twill::rung_promise::copy) return in;
  std::vector<T> out(in.size());
  T sum = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (op == "scan") out[i] = sum;
    if (op == "reverse") out[i] = in[in.size() - 1 - i];
    if (op == "increment") out[i] = static_cast<T>(in[i] + 1);
    if (op == "sieve") {
      bool composite = i < 2;
      for (std::size_t p = 2; p * p <= i; ++p) composite = composite || i % p == 0;
      out[i] = composite;
    }
    sum = static_cast<T>(sum + in[i]);
  }
  return out;
}

template <class T>
void check_rung(twill::stream_ref stream, std::string_view op, const twill::rung& rung, std::int64_t count,
                const twill::rung_options& options = {}) {
  if (rung.promise == twill::rung_promise::nothing) return;
  const std::string name(rung.name);
  CAPTURE(name);
  CAPTURE(count);
  CAPTURE(options.block.x);
  constexpr auto type = twill::element_type_of<T>;
  constexpr std::size_t guard = 8;
  const auto in = numbers<T>(count);
  twill::buffer<T> a(stream.on(), in.size() + guard), out(stream.on(), in.size() + guard);
  const twill::raw_buffer scratch(stream.on(), twill::array_rung_scratch_bytes(stream.on(), op, type, count));
  twill::upload_bytes(stream, in.data(), a.data(), in.size() * sizeof(T));
  twill::fill_bytes(stream, out.data(), 0x5a, out.size_bytes());
  twill::fill_bytes(stream, scratch.data(), 0xff, scratch.size_bytes());
  std::vector<T> found(out.size()), expected = expected_of(op, rung, in);
  twill::array_rung(stream, op, rung.name, a.data(), out.data(), type, count, scratch, options);
  out.download(found, stream);
  stream.wait();
  if (op == "sieve" && (name == "tuned" || name == "cpu-tuned" ||
                        name == "cpu-segmented")) {  // bits of odd numbers; that of 1 stands for 2
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(count + 63) / 64);
    std::memcpy(bits.data(), found.data(), bits.size() * 4);
    std::size_t wrong = 0;
    for (std::size_t i = 1; i < in.size(); i += 2) {
      const bool prime = i == 1 ? in.size() > 2 : expected[i] == 0;
      wrong += (bits[i / 64] >> (i % 64 / 2) & 1) != prime;
    }
    CHECK(wrong == 0);
    return;
  }
  T sentinel;
  std::memset(&sentinel, 0x5a, sizeof sentinel);
  expected.resize(found.size(), sentinel);
  CHECK(found == expected);
}

}  // namespace

TEST_SUITE_BEGIN("array ladders");

TEST_CASE("every rung has a lesson and a source, and a name of its own") {
  on_each_stream([](const twill::device& device, twill::stream_ref) {
    for (const std::string op : {"scan", "reverse", "increment", "sieve"}) {
      std::set<std::string> names;
      for (const auto& rung : twill::array_rungs(device, op)) {
        CHECK(rung.op == op);
        CHECK_FALSE(rung.lesson.empty());
        CHECK_FALSE(rung.source.empty());
        CHECK(names.insert(std::string(rung.name)).second);
      }
      CHECK(names.size() >= 2);
    }
  });
}

TEST_CASE("every rung with every block gives the right elements") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const std::string op : {"scan", "reverse", "increment", "sieve"}) {
      CAPTURE(op);
      for (const auto& rung : twill::array_rungs(device, op)) {
        auto blocks = twill::array_rung_blocks(device, op, rung.name, twill::element_type::i32);
        blocks.push_back({});
        for (const auto& block : blocks) check_rung<std::int32_t>(stream, op, rung, 3000, {block, 2});
        for (const int count : {1, 31, 33, 255, 256, 257, 512, 4096, 4097}) {
          check_rung<std::int32_t>(stream, op, rung, count);
        }
      }
    }
  });
}

TEST_CASE("scans of more parts than a block has, and every type") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    for (const auto& rung : twill::array_rungs(device, "scan")) {
      check_rung<float>(stream, "scan", rung, 70001, {{rung.block.x != 0 ? 128 : 0, rung.block.x != 0 ? 1 : 0}, 1});
      check_rung<double>(stream, "scan", rung, 5000);
      check_rung<std::uint32_t>(stream, "scan", rung, 5000);
    }
    for (const auto& rung : twill::array_rungs(device, "reverse")) {
      check_rung<std::uint8_t>(stream, "reverse", rung, 1001);
      check_rung<std::int16_t>(stream, "reverse", rung, 1001);
      check_rung<double>(stream, "reverse", rung, 1001);
    }
    for (const auto& rung : twill::array_rungs(device, "increment"))
      check_rung<float>(stream, "increment", rung, 70001);
  });
}

TEST_CASE("errors") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    twill::buffer<float> memory(device, 64);
    float* in = memory.data();
    twill::fill_bytes(stream, in, 0x5a, memory.size_bytes());
    const auto call = [&](const char* op, const char* name, const void* from, std::size_t bytes) {
      twill::array_rung(stream, op, name, from, in + 32, twill::element_type::f32, 16, {in + 16, bytes});
    };
    CHECK_THROWS_AS(call("sort", "naive", in, 64), twill::error);
    CHECK_THROWS_AS(call("scan", "no such rung", in, 64), twill::error);
    CHECK_THROWS_AS(call("sieve", "cpu-naive", in, 64), twill::error);
    CHECK_THROWS_AS(call("reverse", "memcpy", nullptr, 64), twill::error);
    CHECK_THROWS_AS(call("reverse", "memcpy", in, 8), twill::error);
    CHECK_THROWS_AS(call("reverse", "memcpy", in + 24, 64), twill::error);
    call("reverse", "memcpy", in, 64);
  });
}

TEST_SUITE_END();
