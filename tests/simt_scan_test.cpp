// What scans only do where more blocks run at once than a simulated device runs.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include <twill/scan.hpp>

#include "support/simt_launch.hpp"

#include "scan/gpu/plan.hpp"
#include "scan/gpu/scan.hpp"

namespace twill::simt {
namespace {

using kind = kernels::integer_sum<std::uint32_t>;
constexpr std::size_t words_of_sum = kernels::state_words<std::uint32_t>::count;

// Tile t of each row sums up to t + 1. One block then asks for what comes before some tiles, as blocks do that claim
// tiles far from one another; they rise, as tickets do.
__global__ void ask_for_sums(kernels::scan_problem p, const std::uint32_t* tiles, int count, std::uint32_t* out) {
  __shared__ std::uint32_t groups[2 * kernels::scan_warps];
  for (std::uint32_t t = threadIdx.x; t < p.tiles; t += blockDim.x) {
    kernels::publish(p.states + t * words_of_sum, t % p.tiles_in_row + 1, p.tag);
  }
  __syncthreads();
  kernels::scan_carry<std::uint32_t> carry{0, 0, 0};
  for (int i = 0; i < count; ++i) {
    const auto sum = kernels::sum_before<kernels::aligned_rows<kind>>(kind{}, p, tiles[i], carry, groups);
    if (threadIdx.x == 0) out[i] = sum;
    __syncthreads();
  }
}

void check_sums(const std::vector<std::uint32_t>& tiles) {
  CAPTURE(tiles);
  constexpr std::uint32_t in_row = 2500;
  const twill::device on = twill::device::open("simt");
  const twill::stream stream(on);
  twill::buffer<std::uint64_t> states(on, 2 * in_row * words_of_sum);
  twill::buffer<std::uint32_t> asked(on, tiles.size()), out(on, tiles.size());
  twill::fill_bytes(stream, states.data(), 0, states.size_bytes());
  asked.upload(tiles, stream);
  kernels::scan_problem problem{};
  problem.tiles = 2 * in_row;
  problem.tiles_in_row = in_row;
  problem.states = states.data();
  problem.tag = kernels::tag_in_cleared_words;
  support::launch(stream, support::line(1, kernels::scan_threads), &ask_for_sums, problem, asked.data(),
                  static_cast<int>(tiles.size()), out.data());
  std::vector<std::uint32_t> found(tiles.size()), expected;
  out.download(found, stream);
  stream.wait();
  for (const std::uint32_t tile : tiles) expected.push_back(tile % in_row * (tile % in_row + 1) / 2);
  CHECK(found == expected);
}

TEST_CASE("a scan's block finds the prefix of tiles hundreds of tiles away") {
  check_sums({0, 1, 31, 32, 33, 511, 512, 513, 1023, 1024, 1700, 2499});
  check_sums({2499, 2500, 3011, 3012, 3600, 4999});
  check_sums({511});
  check_sums({512, 1056});
  check_sums({4999});
}

// A block asks for what comes before a tile, and no other block is there.
template <class Kind, class Rows>
__global__ void ask_alone(Kind by, kernels::scan_problem p, std::uint32_t tile, typename Kind::value* out) {
  __shared__ typename Kind::value groups[2 * kernels::scan_warps];
  kernels::scan_carry<typename Kind::value> carry{by.identity(), 0, 0};
  const auto sum = kernels::sum_before<Rows, 1>(by, p, tile, carry, groups);
  if (threadIdx.x == 0) *out = sum;
}

template <class Element>
Element random_element(std::mt19937& random) {
  if constexpr (std::is_floating_point_v<Element>) {
    return std::uniform_real_distribution<Element>(-1, 1)(random);
  } else {
    return static_cast<Element>(sizeof(Element) == 2 ? 0x3000 + random() % 0x1000 : random());  // halves: normal ones
  }
}

// Two rows of four tiles, the first of which begins `offset` elements behind a multiple of 16 bytes, and their states.
template <class Kind>
struct two_rows {
  static constexpr std::uint32_t tiles = 4;
  static constexpr std::size_t words = kernels::state_words<typename Kind::value>::count;
  twill::device on = twill::device::open("simt");
  twill::stream stream{on};
  kernels::scan_problem p{};
  twill::buffer<typename Kind::element> in;
  twill::buffer<typename Kind::value> out{on, 1};
  twill::buffer<std::uint64_t> states{on, 2 * tiles* words};
  twill::buffer<std::uint32_t> ticket{on, 1};

  explicit two_rows(std::int64_t offset) {
    p.in_ld = p.out_ld = tiles * kernels::tile_elements<Kind>;
    p.cols = p.in_ld - 8;
    std::mt19937 random(1);
    std::vector<typename Kind::element> numbers(static_cast<std::size_t>(offset + 2 * p.in_ld));
    for (auto& x : numbers) x = random_element<typename Kind::element>(random);
    in = {on, numbers.size()};
    in.upload(numbers, stream);
    stream.wait();
    p.in = in.data() + offset;
    p.tiles = 2 * tiles;
    p.tiles_in_row = tiles;
    p.ticket = ticket.data();
    p.states = states.data();
    p.tag = kernels::tag_in_cleared_words;
  }

  void clear() {
    twill::fill_bytes(stream, ticket.data(), 0, ticket.size_bytes());
    twill::fill_bytes(stream, states.data(), 0, states.size_bytes());
  }

  std::vector<std::uint64_t> published() {
    std::vector<std::uint64_t> found(states.size());
    states.download(found, stream);
    stream.wait();
    return found;
  }
};

// What a block publishes for tiles of others has the bits that their own blocks publish, but for the launch's tag. What
// a launch before has published is not taken, not even where every other word has its half of the tag by chance.
template <class Kind, template <class> class Rows>
void check_recomputed_tiles(std::int64_t offset) {
  CAPTURE(offset);
  two_rows<Kind> of(offset);
  of.clear();
  of.p.sums_only = true;
  support::launch(of.stream,
                  support::line(of.p.tiles, kernels::scan_threads, 2 * sizeof(word16) * kernels::tile_vectors<Kind>),
                  &kernels::scan_tiles<Kind, Rows<Kind>, kernels::steady_pace>, Kind{}, of.p);
  const std::vector<std::uint64_t> own = of.published();
  of.p.tag = std::uint64_t{2} << 32 | 3;
  const auto retagged = [](std::uint64_t word, std::size_t i) { return (word & UINT32_MAX) | (3 - i % 2) << 32; };
  for (const std::uint32_t trial : {0, 1, 2, 3, 4, 5}) {
    const std::uint32_t first = trial / 3 * of.tiles, last = first + of.tiles - 1;
    std::vector<std::uint64_t> stale = own;
    const bool all_tagged = sizeof(typename Kind::value) == 4 && trial % 3 == 2;  // but the copies of a sum differ
    for (std::size_t i = 0; i < stale.size(); ++i) {
      if (all_tagged || i % 2 == trial % 3) stale[i] = retagged(i % 2 == 0 ? ~own[i] : own[i] ^ 1, i);
    }
    of.states.upload(stale, of.stream);
    support::launch(of.stream, support::line(1, kernels::scan_threads), &ask_alone<Kind, Rows<Kind>>, Kind{}, of.p,
                    last, of.out.data());
    const std::vector<std::uint64_t> recomputed = of.published();
    for (std::size_t i = 0; i < recomputed.size(); ++i) {
      const bool before = i / of.words >= first && i / of.words < last;
      CHECK(recomputed[i] == (before ? retagged(own[i], i) : stale[i]));
      CHECK((own[i] >> 32) == 1);
    }
  }
}

TEST_CASE("a scan's block recomputes the tiles before its own, bit for bit, where their blocks do not start") {
  using words = kernels::in_small_tiles<kernels::integer_sum<std::uint32_t>>;
  using floats = kernels::in_small_tiles<kernels::float_sum<float>>;
  using doubles = kernels::in_small_tiles<kernels::float_sum<double>>;
  using halves = kernels::in_small_tiles<kernels::half_sum>;
  check_recomputed_tiles<words, kernels::aligned_rows>(0);
  check_recomputed_tiles<floats, kernels::aligned_rows>(0);
  check_recomputed_tiles<doubles, kernels::aligned_rows>(0);
  check_recomputed_tiles<halves, kernels::aligned_rows>(0);
  check_recomputed_tiles<words, kernels::misaligned_rows>(3);
  check_recomputed_tiles<floats, kernels::misaligned_rows>(1);
  check_recomputed_tiles<doubles, kernels::misaligned_rows>(1);
  check_recomputed_tiles<halves, kernels::misaligned_rows>(5);
}

// Both kernels add in the same order, and store the same elements.
template <class Kind, template <class> class Rows>
void check_tile_a_block(std::int64_t offset) {
  CAPTURE(offset);
  using element = typename Kind::element;
  two_rows<Kind> of(offset);
  const auto size = static_cast<std::size_t>(offset + 2 * of.p.out_ld);
  const std::vector<element> sentinels(size, element(7));
  const auto scan_by = [&](auto* kernel, std::size_t tiles_in_shared) {
    twill::buffer<element> out(of.on, size);
    out.upload(sentinels, of.stream);
    of.p.out = out.data() + offset;
    of.clear();
    support::launch(of.stream,
                    support::line(of.p.tiles, kernels::scan_threads,
                                  tiles_in_shared * sizeof(word16) * kernels::tile_vectors<Kind>),
                    kernel, Kind{}, of.p);
    std::vector<element> found(size);
    out.download(found, of.stream);
    of.stream.wait();
    return found;
  };
  const auto expected = scan_by(&kernels::scan_tiles<Kind, Rows<Kind>, kernels::steady_pace>, 2);
  const auto found = scan_by(&kernels::scan_one_tile<Kind, Rows<Kind>, kernels::steady_pace>, 1);
  CHECK(std::memcmp(found.data(), expected.data(), size * sizeof(element)) == 0);
  CHECK(std::memcmp(expected.data(), sentinels.data(), size * sizeof(element)) != 0);
  for (const std::int64_t end : {of.p.cols, of.p.out_ld + of.p.cols})  // behind each row
    CHECK(std::memcmp(&expected[offset + end], sentinels.data(), 8 * sizeof(element)) == 0);
}

TEST_CASE("a scan with one block per tile is bit-identical to one with tickets") {
  using bytes = kernels::in_small_tiles<kernels::integer_sum<std::uint8_t>>;
  using floats = kernels::in_small_tiles<kernels::float_sum<float>>;
  using doubles = kernels::in_small_tiles<kernels::float_sum<double>>;
  check_tile_a_block<bytes, kernels::aligned_rows>(0);
  check_tile_a_block<floats, kernels::aligned_rows>(0);
  check_tile_a_block<doubles, kernels::aligned_rows>(0);
  check_tile_a_block<bytes, kernels::misaligned_rows>(5);
  check_tile_a_block<floats, kernels::misaligned_rows>(3);
  check_tile_a_block<doubles, kernels::misaligned_rows>(1);
}

// `in` begins `offset` bytes behind a multiple of 16; -1: no pointer is known.
detail::scan_args args_of(element_type type, std::int64_t rows, std::int64_t cols, std::int64_t offset) {
  detail::scan_args a{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, never followed
  a.in = offset < 0 ? nullptr : reinterpret_cast<const void*>(std::uintptr_t{4096} + offset);
  a.type = type;
  a.rows = rows;
  a.cols = a.in_ld = a.out_ld = cols;
  return a;
}
scan_plan plan_of(element_type type, std::int64_t cols, std::int64_t offset) {
  return plan_scan(args_of(type, 7, cols, offset));
}

// Where tiles end, and with them the order of additions. A state is 8 bytes for 4 of a value, and at least 16; without
// pointers a row may begin at the last element of a vector.
TEST_CASE("literal: elements of a tile") {
  const auto bytes = [](element_type type, std::int64_t count) {
    return scan_scratch_bytes(device::open("simt"), type, count);
  };
  const auto fills_a_tile = [&](element_type type, std::int64_t tiles, std::int64_t elements) {
    const std::int64_t most = tiles * elements - (16 / static_cast<std::int64_t>(element_bytes(type)) - 1);
    return bytes(type, most) == bytes(type, most - elements + 1) && bytes(type, most + 1) > bytes(type, most);
  };
  for (const std::int64_t tiles : {5, 511}) {  // up to 16 MiB
    CHECK(fills_a_tile(element_type::u8, tiles, 256 * 8 * 16));
    CHECK(fills_a_tile(element_type::f16, tiles, 256 * 8 * 8));
    CHECK(fills_a_tile(element_type::f32, tiles, 256 * 8 * 4));
    CHECK(fills_a_tile(element_type::f64, tiles, 256 * 8 * 2));
  }
  CHECK(fills_a_tile(element_type::u8, 600, 256 * 11 * 16));  // beyond
  CHECK(fills_a_tile(element_type::f16, 600, 256 * 11 * 8));
  CHECK(fills_a_tile(element_type::f32, 600, 256 * 11 * 4));
  CHECK(fills_a_tile(element_type::f64, 600, 256 * 10 * 2));
  CHECK(bytes(element_type::f32, (1 << 22) + 1) == bytes(element_type::f32, 1 << 22));  // no less for more elements
  CHECK(fills_a_tile(element_type::c128, 5, 256 * 4));
  CHECK(fills_a_tile(element_type::c128, 2000, 256 * 4));
  const auto minima = [](std::int64_t count) {
    return scan_scratch_bytes(device::open("simt"), element_type::f32, count, {scan_op::min});
  };
  CHECK(minima(256 * 11 * 4 * 5 - 3) == minima(256 * 11 * 4 * 4 - 2));
  CHECK(minima(256 * 11 * 4 * 5 - 2) > minima(256 * 11 * 4 * 5 - 3));
  const auto in_segments = [](std::int64_t count) {
    return scan_segments_scratch_bytes(device::open("simt"), element_type::f32, count, 1);
  };
  CHECK(in_segments(256 * 8 * 4 - 3) == in_segments(1));
  CHECK(in_segments(256 * 8 * 4 - 2) > in_segments(1));
}

TEST_CASE("literal: which kernel scans") {
  const auto by = [](element_type type, std::int64_t cols, std::int64_t offset) {
    return plan_of(type, cols, offset).by;
  };
  // 48 KiB are in the registers of a block, as vectors that are aligned in the input; 32 KiB of c128.
  CHECK(by(element_type::f32, 12288, 0) == scan_kernel::short_rows);
  CHECK(by(element_type::f32, 12289, 0) == scan_kernel::tiles);
  CHECK(by(element_type::f32, 12285, 4) == scan_kernel::short_rows);
  CHECK(by(element_type::f32, 12286, 4) == scan_kernel::tiles);
  CHECK(by(element_type::f32, 12286, -1) == scan_kernel::tiles);
  CHECK(by(element_type::u8, 49152, 0) == scan_kernel::short_rows);
  CHECK(by(element_type::u8, 49153, 0) == scan_kernel::tiles);
  CHECK(by(element_type::c128, 2048, 0) == scan_kernel::short_rows);
  CHECK(by(element_type::c128, 2049, 0) == scan_kernel::tiles);
  // Packed rows of up to 384 bytes or 128 elements that begin inside of vectors.
  CHECK(by(element_type::f32, 127, 0) == scan_kernel::serial_rows);
  CHECK(by(element_type::f32, 128, 4) == scan_kernel::short_rows);
  CHECK(by(element_type::f32, 129, 0) == scan_kernel::short_rows);
  CHECK(by(element_type::u8, 383, -1) == scan_kernel::serial_rows);
  CHECK(by(element_type::u8, 385, 1) == scan_kernel::short_rows);
  CHECK(by(element_type::f64, 127, 0) == scan_kernel::serial_rows);
  CHECK(by(element_type::f64, 129, 0) == scan_kernel::short_rows);
  CHECK(by(element_type::c128, 5, 0) == scan_kernel::short_rows);
  detail::scan_args with_gaps = args_of(element_type::f32, 7, 33, 0);
  with_gaps.in_ld = 34;
  CHECK(plan_scan(with_gaps).by == scan_kernel::short_rows);
  CHECK(plan_scan(args_of(element_type::f32, 1, 33, 0)).by == scan_kernel::short_rows);
  detail::scan_args with_segments = args_of(element_type::f32, 1, 33, 0);
  with_segments.segments = 1;
  CHECK(plan_scan(with_segments).by == scan_kernel::tiles);
}

// Lanes, warps and vectors that share a row, which the order of additions depends on, and rows of a thread, which it
// does not.
TEST_CASE("literal: how threads share short rows") {
  const device_limits few{49152, 1, 0}, many{49152, 1 << 20, 0};
  const auto shared = [&](std::int64_t rows, std::int64_t cols, const device_limits& on) {
    const kernels::short_rows p = lay_out_short_rows(args_of(element_type::f32, rows, cols, 0), on);
    return std::vector<int>{1 << p.lanes_shift, 1 << p.warps_shift, p.vectors, p.rows_each};
  };
  CHECK(shared(1 << 20, 4, few) == std::vector<int>{1, 1, 1, 6});
  CHECK(shared(1 << 20, 12, few) == std::vector<int>{4, 1, 1, 6});
  CHECK(shared(1 << 20, 32, few) == std::vector<int>{8, 1, 1, 6});
  CHECK(shared(1 << 20, 64, few) == std::vector<int>{8, 1, 2, 3});
  CHECK(shared(1 << 20, 64, many) == std::vector<int>{8, 1, 2, 1});
  CHECK(shared(1 << 20, 192, few) == std::vector<int>{8, 1, 6, 1});
  CHECK(shared(1 << 20, 196, few) == std::vector<int>{16, 1, 4, 1});
  CHECK(shared(1 << 20, 768, few) == std::vector<int>{32, 1, 6, 1});
  CHECK(shared(1 << 20, 772, few) == std::vector<int>{32, 2, 4, 1});
  CHECK(shared(1, 12288, few) == std::vector<int>{32, 16, 6, 1});
  for (const std::int64_t cols : {4, 64, 192, 196, 768, 772, 1540, 6148, 12288}) {
    const std::vector<int> some = shared(1 << 16, cols, few), all = shared(1 << 16, cols, many);
    CHECK(std::vector<int>(some.begin(), some.begin() + 3) == std::vector<int>(all.begin(), all.begin() + 3));
  }
}

TEST_CASE("literal: which bytes of short rows any thread may read") {
  const auto readable = [](detail::scan_args a, std::int64_t in_ld) {
    a.in_ld = in_ld;
    return lay_out_short_rows(a, {49152, 132, 0}).readable_bytes;
  };
  detail::scan_args a = args_of(element_type::f32, 7, 131, 4);
  CHECK(readable(a, 131) == 7 * 131 * 4);
  CHECK(readable(a, 132) == 0);
  a.out = const_cast<void*>(a.in);
  CHECK(readable(a, 131) == 0);
}

// Rows of a block, its shared memory, and whether the output is staged over the input.
TEST_CASE("literal: blocks of serial rows") {
  const auto blocks = [](std::int64_t rows, std::int64_t cols, std::int64_t shared_bytes, std::int64_t out_offset) {
    detail::scan_args a = args_of(element_type::f32, rows, cols, 0);
    // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, never followed
    a.out = reinterpret_cast<void*>(std::uintptr_t{8192} + out_offset);
    const kernels::serial_rows p = lay_out_serial_rows(a, {shared_bytes, 100, 0});
    return std::vector<int>{p.at_once, p.region, p.over_input ? 1 : 0};
  };
  CHECK(blocks(1 << 20, 3, 49152, 0) == std::vector<int>{1365, 16400, 1});
  CHECK(blocks(1 << 20, 127, 49152, 4) == std::vector<int>{32, 16272, 0});
  CHECK(blocks(40000, 3, 49152, 4) == std::vector<int>{100, 1216, 0});
  CHECK(blocks(40, 3, 49152, 4) == std::vector<int>{32, 400, 0});
  CHECK(blocks(1 << 20, 127, 16384, 4) == std::vector<int>{16, 8144, 0});
}

// The vectors of a warp that is not the first of its row.
__global__ void store_later_part(float* out, int index, int high) {
  const int lane = static_cast<int>(threadIdx.x);
  kernels::realigned_store<kernels::float_sum<float>> to(lane, 32);
  const auto at = static_cast<std::uint32_t>(4 * lane);
  to.store(out, 0, high, index + 4 * lane, make_word16(at + 1, at + 2, at + 3, at + 4), true, true);
}

TEST_CASE("realigned stores leave alone what other warps of the row store") {
  const twill::device on = twill::device::open("simt");
  const twill::stream stream(on);
  for (const int offset : {0, 1, 2, 3}) {
    for (const int count : {128, 126, 61, 4, 1}) {
      CAPTURE(offset);
      CAPTURE(count);
      twill::buffer<std::uint32_t> out(on, 300);
      twill::fill_bytes(stream, out.data(), 0, out.size_bytes());
      auto* const to = reinterpret_cast<float*>(out.data() + offset);
      support::launch(stream, support::line(1, 32), &store_later_part, to, 64, 64 + count);
      std::vector<std::uint32_t> found(300), expected(300, 0);
      for (int i = 0; i < count; ++i)
        expected[static_cast<std::size_t>(offset + 64 + i)] = static_cast<std::uint32_t>(i + 1);
      out.download(found, stream);
      stream.wait();
      CHECK(found == expected);
    }
  }
}

TEST_CASE("scratch that is asked for without pointers is enough for all") {
  for (const element_type type : {element_type::u8, element_type::f16, element_type::f32, element_type::f64,
                                  element_type::c64, element_type::c128}) {
    const auto bytes = static_cast<std::int64_t>(element_bytes(type));
    for (std::int64_t cols = 1; cols < 200000 / bytes; cols += 1 + cols / 9) {
      for (const std::int64_t even : {cols, (cols + 15) & -16}) {
        for (std::int64_t offset = 0; offset < 16; offset += bytes) {
          CAPTURE(even);
          CHECK(plan_of(type, even, -1).bytes() >= plan_of(type, even, offset).bytes());
        }
      }
    }
  }
}

}  // namespace
}  // namespace twill::simt
