#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include <twill/ladder/sieve.hpp>
#include <twill/twill.hpp>

#include "support/backends.hpp"
#include "support/cases.hpp"

namespace {

using support::code_of;
using support::on_each_stream;

bool is_prime(std::int64_t n) {
  if (n < 4) return n >= 2;
  if (n % 2 == 0) return false;
  for (std::int64_t d = 3; d * d <= n; d += 2) {
    if (n % d == 0) return false;
  }
  return true;
}

std::uint64_t count_of(twill::stream_ref stream, const twill::sieve_range& range) {
  const twill::raw_buffer scratch(stream.on(), twill::sieve_scratch_bytes(stream.on(), range));
  twill::buffer<std::uint64_t> count(stream.on(), 1);
  twill::sieve_count(stream, count.data(), range, scratch);
  std::uint64_t found = 0;
  count.download(&found, stream);
  stream.wait();
  return found;
}

std::vector<std::uint32_t> bits_of(twill::stream_ref stream, const twill::sieve_range& range) {
  const twill::raw_buffer scratch(stream.on(), twill::sieve_scratch_bytes(stream.on(), range));
  const auto words = static_cast<std::size_t>(twill::sieve_words(range));
  twill::buffer<std::uint32_t> bits(stream.on(), words + 1);
  twill::fill_bytes(stream, bits.data(), 0x5a, bits.size_bytes());
  twill::sieve_bits(stream, bits.data(), range, scratch);
  std::vector<std::uint32_t> found(words + 1);
  bits.download(found, stream);
  stream.wait();
  CHECK(found.back() == 0x5a5a5a5au);
  found.pop_back();
  return found;
}

void check_bits(twill::stream_ref stream, const twill::sieve_range& range) {
  CAPTURE(range.first);
  CAPTURE(range.last);
  const auto bits = bits_of(stream, range);
  std::size_t wrong = 0;
  for (std::size_t w = 0; w < bits.size(); ++w) {
    for (int i = 0; i < 32; ++i) {
      auto number = range.first + 64 * static_cast<std::int64_t>(w) + 2 * i + 1;
      if (number == 1) number = 2;
      const bool expected = number < range.last && is_prime(number);
      wrong += (bits[w] >> i & 1) != expected;
    }
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_SUITE_BEGIN("sieve");

TEST_CASE("literal") {
  on_each_stream([](const twill::device&, twill::stream_ref stream) {
    CHECK(bits_of(stream, {0, 20}) == std::vector<std::uint32_t>{0x36f});
    CHECK(count_of(stream, {0, 20}) == 8);
  });
}

TEST_CASE("bits about words and segments, near 0 and near the end") {
  on_each_stream([](const twill::device&, twill::stream_ref stream) {
    for (const std::int64_t last : {1, 2, 3, 4, 9, 10, 63, 64, 65, 66, 1000, 65537}) check_bits(stream, {0, last});
    check_bits(stream, {524288 - 640, 524288 + 700});
    check_bits(stream, {64, 600000});
    check_bits(stream, {(std::int64_t{1} << 40) - 1280, std::int64_t{1} << 40});
  });
}

TEST_CASE("pi(n)") {
  on_each_stream([](const twill::device&, twill::stream_ref stream) {
    const std::int64_t powers[] = {10, 100, 1000, 10000, 100000, 1000000};
    const std::uint64_t pi[] = {4, 25, 168, 1229, 9592, 78498};
    for (int k = 0; k < 6; ++k) CHECK(count_of(stream, {0, powers[k] + 1}) == pi[k]);
    CHECK(count_of(stream, {0, 0}) == 0);
    const auto whole = count_of(stream, {0, 1500000});
    CHECK(count_of(stream, {0, 640000}) + count_of(stream, {640000, 1500000}) == whole);
  });
}

TEST_CASE("list") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    const twill::sieve_range range{0, 700000};
    const twill::raw_buffer scratch(device, twill::sieve_scratch_bytes(device, range));
    twill::buffer<std::uint64_t> list(device, 60000), count(device, 1);
    twill::fill_bytes(stream, list.data(), 0, list.size_bytes());
    twill::sieve_list(stream, list.data(), count.data(), 50000, range, scratch);
    std::vector<std::uint64_t> found(60000), total(1), expected;
    list.download(found, stream);
    count.download(total, stream);
    stream.wait();
    for (std::int64_t n = 0; n < range.last; ++n) {
      if (is_prime(n)) expected.push_back(static_cast<std::uint64_t>(n));
    }
    CHECK(total[0] == expected.size());
    expected.resize(50000);  // what there is room for
    expected.resize(60000, 0);
    CHECK(found == expected);
  });
}

TEST_CASE("errors") {
  on_each_stream([](const twill::device& device, twill::stream_ref stream) {
    const auto invalid = twill::errc::invalid_argument;
    twill::buffer<std::uint64_t> memory(device, 1 << 16);
    auto* count = memory.data();
    void* scratch = memory.data() + 2;
    const auto bytes = twill::sieve_scratch_bytes(device, {0, 1000});
    const auto counted = [&](std::uint64_t* to, const twill::sieve_range& range, twill::scratch_ref with) {
      return code_of([&] { twill::sieve_count(stream, to, range, with); });
    };
    for (const twill::sieve_range& range :
         {twill::sieve_range{1, 1000}, {-64, 1000}, {0, -1}, {128, 64}, {0, (std::int64_t{1} << 40) + 1}}) {
      CHECK(counted(count, range, {scratch, bytes}) == invalid);
      CHECK(code_of([&] { (void)twill::sieve_words(range); }) == invalid);
      CHECK(code_of([&] { (void)twill::sieve_scratch_bytes(device, range); }) == invalid);
    }
    const twill::sieve_range range{0, 1000};
    CHECK(counted(nullptr, range, {scratch, bytes}) == invalid);
    CHECK(counted(count, range, {nullptr, bytes}) == invalid);
    CHECK(counted(count, range, {scratch, bytes - 1}) == invalid);
    CHECK(counted(memory.data() + 4, range, {scratch, bytes}) == invalid);
    auto* inside = static_cast<std::uint32_t*>(scratch) + 8;
    for (std::uint32_t* bits : {static_cast<std::uint32_t*>(nullptr), inside}) {
      CHECK(code_of([&] { twill::sieve_bits(stream, bits, range, {scratch, bytes}); }) == invalid);
    }
    CHECK(code_of([&] { twill::sieve_list(stream, nullptr, count, 1, range, {scratch, bytes}); }) == invalid);
  });
}

TEST_CASE("errors: a device whose blocks have too little shared memory" * doctest::skip(!support::has_simt)) {
  const auto old = twill::device::open("simt:gtx280");
  const twill::stream stream(old);
  const twill::sieve_range range{0, 1000};
  const twill::raw_buffer scratch(old, twill::sieve_scratch_bytes(old, range));
  twill::buffer<std::uint64_t> count(old, 1);
  try {
    twill::sieve_count(stream, count.data(), range, scratch);
    FAIL("sieved");
  } catch (const twill::error& e) {
    CHECK(e.code() == twill::errc::unsupported);
    CHECK(std::string(e.what()).find("a block has 16384 bytes of shared memory, a segment 32768") != std::string::npos);
  }
}

TEST_SUITE_END();
