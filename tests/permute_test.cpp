#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/image.hpp"
#include "support/permute_reference.hpp"

namespace {

using support::code_of;
using support::on_each_device;
using twill::dims;
using twill::permute_shape;

std::string text(const dims& list) {
  std::string all;
  for (const std::int64_t value : list) all += (all.empty() ? "" : ",") + std::to_string(value);
  return all;
}

// One case against the plain loop, every byte of the output memory compared, guards and gaps included.
void check_case(twill::stream_ref stream, permute_shape s, std::int64_t element_bytes, std::size_t in_offset,
                std::size_t out_offset, std::uint32_t seed, const std::string& kernel = "") {
  const permute_shape asked = s;
  const dims turned = support::out_extents(s);
  if (s.in_strides.size() == 0) s.in_strides = support::packed_strides(s.extents);
  if (s.out_strides.size() == 0) s.out_strides = support::packed_strides(turned);
  const auto in_reach = support::reach_of(s.extents, s.in_strides, element_bytes);
  const auto out_reach = support::reach_of(turned, s.out_strides, element_bytes);
  const support::image in(stream, static_cast<std::size_t>(in_reach.before + in_reach.after), in_offset, seed);
  support::image out(stream, static_cast<std::size_t>(out_reach.before + out_reach.after), out_offset, seed + 1);
  const auto* from = static_cast<unsigned char*>(in.data()) + in_reach.before;
  auto* const to = static_cast<unsigned char*>(out.data()) + out_reach.before;
  if (kernel.empty()) {
    twill::permute_bytes(stream, from, to, element_bytes, asked);
  } else {
    try {
      twill::permute_bytes_with(stream, kernel, from, to, element_bytes, asked);
    } catch (const twill::error&) {
      return;  // a launch may refuse what a plan took for possible
    }
  }
  support::permute_reference(in.expected() + in_reach.before, out.expected() + out_reach.before, element_bytes, s);
  CAPTURE(element_bytes);
  CAPTURE(text(s.extents));
  CAPTURE(text(s.order));
  CAPTURE(text(s.in_strides));
  CAPTURE(text(s.out_strides));
  CAPTURE(in_offset);
  CAPTURE(out_offset);
  CAPTURE(kernel);
  CHECK(out.matches(stream));
}

// By every kernel that is a candidate.
void check_candidates(twill::stream_ref stream, const permute_shape& s, std::int64_t element_bytes,
                      std::size_t in_offset, std::size_t out_offset, std::uint32_t seed) {
  for (const auto& one : twill::explain_permute(stream.on(), element_bytes, s)) {
    check_case(stream, s, element_bytes, in_offset, out_offset, seed, one.kernel);
  }
}

// Strides for `extents` whose dimensions lie in memory in a random order, with random gaps and signs.
template <class Pick>
dims random_strides(const dims& extents, Pick pick, bool turned) {
  std::int64_t strides[8] = {}, next = pick(0, 3) == 0 ? 2 : 1;
  std::vector<int> places(static_cast<std::size_t>(extents.size()));
  std::iota(places.rbegin(), places.rend(), 0);
  if (turned) {
    for (std::size_t i = places.size(); i > 1; --i)
      std::swap(places[i - 1], places[static_cast<std::size_t>(pick(0, static_cast<int>(i) - 1))]);
  }
  for (const int i : places) {
    strides[i] = pick(0, 3) == 0 ? -next : next;
    next = next * extents[i] + (pick(0, 2) == 0 ? pick(0, 5) : 0);
  }
  return {strides, static_cast<std::size_t>(extents.size())};
}

template <class Pick>
permute_shape random_shape(Pick pick, int largest_total) {
  const int rank = pick(1, 8);
  std::int64_t extents[8] = {}, order[8] = {0, 1, 2, 3, 4, 5, 6, 7}, total = 1;
  for (int i = 0; i < rank; ++i) {
    const int most = std::max(1, static_cast<int>(largest_total / total));
    extents[i] = pick(0, 4) == 0 ? pick(1, std::min(most, 300)) : pick(1, std::min(most, 9));
    total *= extents[i];
  }
  for (int i = rank; i > 1; --i) std::swap(order[i - 1], order[pick(0, i - 1)]);
  const auto count = static_cast<std::size_t>(rank);
  permute_shape s{{extents, count}, {order, count}, {}, {}};
  if (pick(0, 2) == 0) s.in_strides = random_strides(s.extents, pick, pick(0, 3) == 0);
  if (pick(0, 2) == 0) s.out_strides = random_strides(support::out_extents(s), pick, pick(0, 3) == 0);
  return s;
}

}  // namespace

TEST_SUITE_BEGIN("permute");

TEST_CASE("literal") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const auto permuted = [&](const permute_shape& shape) {
      const std::vector<float> host{1, 2, 3, 4, 5, 6};
      twill::buffer<float> a(device, 6), b(device, 6);
      a.upload(host, stream);
      const bool flipped = shape.in_strides.size() != 0;
      twill::permute(stream, a.data() + (flipped ? 3 : 0), b.data(), shape);
      std::vector<float> result(6);
      b.download(result, stream);
      stream.wait();
      return result;
    };
    CHECK(permuted({{2, 1, 3}, {2, 0, 1}, {}, {}}) == std::vector<float>{1, 4, 2, 5, 3, 6});
    CHECK(permuted({{2, 3}, {0, 1}, {-3, 1}, {}}) == std::vector<float>{4, 5, 6, 1, 2, 3});
    CHECK(permuted({{3, 2, 1}, {2, 1, 0}, {}, {}}) == std::vector<float>{1, 3, 5, 2, 4, 6});
  });
}

TEST_CASE("reference: every order of four dimensions, every element size") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1;
    for (std::int64_t bytes : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}) {
      std::int64_t order[4] = {0, 1, 2, 3};
      do {
        const dims extents = bytes % 2 == 0 ? dims{4, 6, 2, 8} : dims{3, 5, 4, 7};
        check_case(stream, {extents, {order, 4}, {}, {}}, bytes, 0, 0, seed += 2);
      } while (std::next_permutation(order, order + 4));
    }
  });
}

TEST_CASE("reference: random shapes, strides of both signs and misalignments") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20240611);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 700; ++i) {
      const permute_shape shape = random_shape(pick, i % 10 == 0 ? 60000 : 3000);
      const auto in_offset = static_cast<std::size_t>(pick(0, 16)), out_offset = static_cast<std::size_t>(pick(0, 16));
      check_case(stream, shape, pick(0, 9) == 0 ? pick(17, 64) : pick(1, 16), in_offset, out_offset, random());
    }
  });
}

TEST_CASE("reference: random shapes and strides, by every candidate") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20261124);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 150; ++i) {
      const permute_shape shape = random_shape(pick, i % 5 == 0 ? 60000 : 3000);
      const std::int64_t bytes = i % 3 == 0 ? pick(1, 16) : std::int64_t{1} << pick(0, 4);
      const auto at = static_cast<std::size_t>(i % 4 == 0 ? pick(0, 16) : 0);
      check_candidates(stream, shape, bytes, at, at * 3 % 16, random());
    }
  });
}

TEST_CASE("explain lists candidates by their cost, and a kernel can be named") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const permute_shape shape{{6, 5, 7, 300}, {3, 1, 2, 0}, {}, {}};
    const auto found = twill::explain_permute(stream.on(), 4, shape);
    if (stream.on().properties().backend == "cpu") CHECK(found.empty());
    for (std::size_t i = 1; i < found.size(); ++i) CHECK(found[i - 1].microseconds <= found[i].microseconds);
    int data[2] = {};
    const auto named = [&](const char* kernel) {
      twill::permute_bytes_with(stream, kernel, data, data + 1, 4, {{1}, {0}, {}, {}});
    };
    const bool has_kernels = stream.on().properties().backend != "cpu";
    const auto none = [&](const char* problem) {
      return doctest::Contains(has_kernels ? problem : "cpu has no kernels");
    };
    CHECK_THROWS_WITH_AS(named("no such kernel"), none("no kernel of this name"), twill::error);
    CHECK_THROWS_WITH_AS(named("gather"), none("the shape has no kernels"), twill::error);  // one element: a copy
  });
}

TEST_CASE("reference: aligned pieces of 16 bytes on both sides, in several blocks") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::uint32_t seed = 1001;
    for (std::int64_t bytes : {1, 2, 4, 8}) {
      const std::int64_t edge = 16 / bytes;
      check_case(stream, {{8 * edge, 3, 5, 9 * edge}, {3, 2, 1, 0}, {}, {}}, bytes, 0, 0, seed += 2);
      check_case(stream, {{20 * edge, 3, 2, 35 * edge}, {3, 2, 1, 0}, {}, {}}, bytes, 0, 0, seed += 2);
      check_case(stream, {{4, edge, 5, 7, 2 * edge}, {4, 3, 2, 1, 0}, {}, {}}, bytes, 0, 0, seed += 2);
      check_case(stream, {{3, 5, 2 * edge, 11, 2 * edge}, {3, 4, 0, 1, 2}, {}, {}}, bytes, 16, 32, seed += 2);
      check_case(stream, {{6, 2 * edge, 4, 9 * edge}, {2, 3, 0, 1}, {}, {}}, bytes, 0, 0, seed += 2);
      check_case(stream,
                 {{2 * edge, 3, 5, 9 * edge},
                  {3, 2, 1, 0},
                  {200 * edge, 50 * edge, -10 * edge, 1},
                  {30 * edge, 6 * edge, 2 * edge, 1}},
                 bytes, 0, 0, seed += 2);
    }
  });
}

TEST_CASE("reference: rows and columns of two dimensions each, misaligned") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20261122);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 60; ++i) {
      const std::int64_t bytes = std::int64_t{1} << (i % 4);
      const std::int64_t inner_row = pick(2, 40), outer_row = 600 / bytes / inner_row + pick(1, 9);
      const std::int64_t inner_col = pick(2, 40), outer_col = 300 / bytes / inner_col + pick(1, 5), batch = pick(1, 2);
      const std::int64_t cols = inner_col * outer_col, rows = inner_row * outer_row;
      const std::int64_t in_ld = cols + pick(0, 5), in_outer = inner_row * in_ld + pick(0, 5);
      const std::int64_t out_ld = rows + pick(0, 5), out_outer = outer_col * out_ld + pick(0, 5);
      const std::int64_t sign = pick(0, 1) * 2 - 1, outer_sign = pick(0, 1) * 2 - 1;
      check_case(stream,
                 {{batch, outer_row, inner_row, outer_col, inner_col},
                  {0, 4, 3, 1, 2},
                  {outer_row * in_outer, outer_sign * in_outer, sign * in_ld, inner_col, 1},
                  {inner_col * out_outer, out_outer, out_ld, inner_row, 1}},
                 bytes, static_cast<std::size_t>(bytes * pick(0, 16)), static_cast<std::size_t>(bytes * pick(0, 16)),
                 random());
    }
  });
}

TEST_CASE("reference: rows of some hundred bytes that meet in chunks, forwards and backwards") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    std::mt19937 random(20261123);
    const auto pick = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
    for (int i = 0; i < 60; ++i) {
      const std::int64_t bytes = std::int64_t{1} << (i % 4), row = pick(bytes < 4 ? 64 : 256, 600) / bytes + 1;
      const std::int64_t inner = pick(2, 9), outer = 40000 / bytes / row / inner + pick(1, 9), lines = pick(1, 4);
      const std::int64_t in_ld = row + pick(0, 2), sign = pick(0, 1) * 2 - 1, line = inner * outer * row + pick(0, 5);
      check_case(stream,
                 {{inner, outer, lines, row},
                  {2, 1, 0, 3},
                  {outer * lines * in_ld, -sign * lines * in_ld, sign * in_ld, 1},
                  {line, inner * row, row, 1}},
                 bytes, static_cast<std::size_t>(bytes * pick(0, 16)), static_cast<std::size_t>(bytes * pick(0, 16)),
                 random());
    }
  });
}

TEST_CASE("reference: windows that slide over the input") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    check_case(stream, {{2, 32, 32, 32}, {0, 2, 3, 1}, {4160, 128, 1, 1}, {}}, 4, 0, 0, 3001);
    check_case(stream, {{16, 64, 64}, {1, 2, 0}, {1, 128, 1}, {}}, 8, 0, 0, 3003);
  });
}

TEST_CASE("reference: large enough for a launch for each index of a short dimension") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    check_case(stream, {{2, 1024, 1024, 4}, {1, 0, 3, 2}, {}, {}}, 1, 0, 0, 2001);
  });
}

TEST_CASE("reference: larger than the caches, on the CPU") {
  const auto device = twill::device::open("cpu");
  const twill::stream stream(device);
  const std::vector<permute_shape> shapes = {
      {{37, 4, 9, 41, 23}, {3, 4, 1, 0, 2}, {}, {}}, {{60, 21, 3, 7, 52}, {3, 4, 1, 2, 0}, {}, {}},
      {{5, 9, 130, 3, 80}, {1, 4, 3, 0, 2}, {}, {}}, {{2, 700, 3, 333}, {2, 1, 0, 3}, {}, {}},
      {{90, 110, 141}, {2, 1, 0}, {}, {}},           {{3, 29, 20001}, {2, 1, 0}, {}, {}}};  // short runs of the output
  std::uint32_t seed = 1;
  for (const permute_shape& shape : shapes) {
    for (const std::int64_t bytes : {1, 3, 4, 8, 16}) {
      check_case(stream, shape, bytes, 0, 0, seed += 2);
      check_case(stream, shape, bytes, static_cast<std::size_t>(bytes), 5, seed += 2);
    }
  }
  check_case(stream, {{40, 3, 7, 9000}, {2, 1, 0, 3}, {}, {}}, 1, 3, 1, 5);  // long runs
  check_case(stream, {{3, 2, 600000}, {1, 0, 2}, {}, {}}, 2, 2, 4, 7);       // runs longer than a task
}

// On GPUs: blocks take their tiles across, as a column of them exceeds the cache (simt_planning_test has a small one).
TEST_CASE("reference: many rows, of two dimensions, and few columns") {
  on_each_device([](const twill::device& device) {
    if (device.properties().backend == "simt") return;  // takes seconds for each
    const twill::stream stream(device);
    std::uint32_t seed = 177;
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      check_case(stream, {{230, 203, 70}, {2, 1, 0}, {}, {}}, bytes, 0, 0, seed += 2);
      check_case(stream, {{2, 230, 203, 71}, {0, 3, 2, 1}, {}, {}}, bytes, 0, 0, seed += 2);
    }
  });
}

// The CPU's tiles: two dimensions of the input make a long run, but too many columns for a table of offsets.
TEST_CASE("reference: more columns than a tile has, by runs of two dimensions") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    for (const std::int64_t bytes : {1, 2}) {
      check_case(stream, {{2, 3, 5, 700}, {2, 1, 3, 0}, {}, {}}, bytes, 0, 0, 11);
      check_case(stream, {{3, 4, 4, 600}, {2, 1, 3, 0}, {}, {}}, bytes, 3 * bytes, bytes, 12);
    }
  });
}

TEST_CASE("bounds: extents of zero launch nothing and succeed, with any pointers") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    const float* none = nullptr;
    float* also_none = nullptr;
    CHECK_NOTHROW(twill::permute(stream, none, also_none, {{0, 5}, {1, 0}, {}, {}}));
    CHECK_NOTHROW(twill::permute(stream, none, also_none, {{5, 4, 0}, {1, 0, 2}, {}, {}}));
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_CASE("errors: the same on every device, before anything is touched") {
  on_each_device([](const twill::device& device) {
    const twill::stream stream(device);
    support::image in(stream, 4096, 0, 1), out(stream, 4096, 0, 2);
    auto* a = static_cast<float*>(in.data());
    auto* b = static_cast<float*>(out.data());
    float* none = nullptr;
    const auto fails = [&](const float* from, float* to, const permute_shape& s) {
      return code_of([&] { twill::permute(stream, from, to, s); });
    };
    const auto invalid = twill::errc::invalid_argument;
    const auto large = std::int64_t{1} << 31;
    CHECK(fails(none, b, {{2, 2}, {1, 0}, {}, {}}) == invalid);
    CHECK(fails(a, none, {{2, 2}, {1, 0}, {}, {}}) == invalid);
    CHECK(fails(a, a, {{2, 2}, {1, 0}, {}, {}}) == invalid);
    CHECK(fails(a, a + 3, {{2, 2}, {1, 0}, {}, {}}) == invalid);
    CHECK(fails(a + 3, a + 4, {{2, 2}, {1, 0}, {-2, 1}, {2, -1}}) == invalid);
    CHECK(fails(a, b, {{-1, 2}, {1, 0}, {}, {}}) == invalid);
    CHECK(fails(a, b, {{}, {}, {}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1}, {}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, 1}, {}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, 2}, {}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, -1}, {}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, 0}, {2}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, 0}, {2, 0}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, 0}, {}, {1, 1}}) == invalid);
    CHECK(fails(a, b, {{3, 3}, {1, 0}, {}, {2, 4}}) == invalid);
    CHECK(fails(a, b, {{2, 2, 2}, {0, 1, 2}, {}, {3, 2, 1}}) == invalid);  // eight elements, seven places
    CHECK(fails(a, b, {{large, large}, {1, 0}, {}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, 0}, {INT64_MIN, 1}, {}}) == invalid);
    CHECK(fails(a, b, {{2, 2}, {1, 0}, {INT64_MAX / 4, 1}, {}}) == invalid);
    CHECK(fails(reinterpret_cast<float*>(static_cast<char*>(in.data()) + 1), b, {{2, 2}, {1, 0}, {}, {}}) == invalid);
    CHECK(code_of([] { dims{1, 1, 1, 1, 1, 1, 1, 1, 1}; }) == invalid);
    CHECK(code_of([] { dims(nullptr, 2); }) == invalid);
    CHECK_NOTHROW(dims(nullptr, 0));
    CHECK(code_of([&] { twill::permute_bytes(stream, a, b, 0, {{2, 2}, {1, 0}, {}, {}}); }) == invalid);
    CHECK(code_of([&] { twill::permute_bytes(stream, a, b, 65, {{2, 2}, {1, 0}, {}, {}}); }) == invalid);
    CHECK(in.matches(stream));
    CHECK(out.matches(stream));
    CHECK_NOTHROW(twill::permute(stream, a, b, {{1, 2}, {1, 0}, {INT64_MIN, 1}, {2, 0}}));  // distances of nothing
    CHECK_NOTHROW(
        twill::permute(stream, a, b, {{2, 2}, {0, 1}, {}, {2, 3}}));  // 0, 2, 3, 5: disjoint, though interleaved
    CHECK_NOTHROW(twill::permute(stream, a, a + 4, {{2, 2}, {1, 0}, {}, {}}));  // touching is not overlapping
    CHECK_NOTHROW(stream.wait());
  });
}

TEST_SUITE_END();
