// The kernel of exchanges, by the number of its blocks: how large they are, and that what they move is right.

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include <twill/profile.hpp>
#include <twill/simt.hpp>
#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/simt_launch.hpp"
#include "support/team_run.hpp"

namespace {

using support::redistribution;
using support::slab_transpose;

twill::global_options direct_with(int blocks_per_peer) {
  twill::global_options options;
  options.via = twill::transport::direct;
  options.blocks_per_peer = blocks_per_peer;
  return options;
}

struct block_size {
  unsigned threads;
  std::uint64_t blocks;  // of the grid
};

/// Of the kernel that moves rank 0's pieces on an H200.
block_size blocks_of(const redistribution& one, int blocks_per_peer) {
  const auto gpu = twill::device::open("simt:h200");
  support::team_images ranks(gpu, one);
  twill::global_transpose plan(ranks.team, one.element_bytes, one.shape, ranks.memory, direct_with(blocks_per_peer));
  const auto seen = twill::take_profile(gpu, [&] { plan.run(ranks.streams); });
  for (const auto& kernel : seen.kernels) {
    if (kernel.blocks > 1) return {kernel.block[0], kernel.blocks};
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("simt exchange");

TEST_CASE("few blocks are large ones" * doctest::skip(TWILL_SANITIZED)) {
  const auto check = [](std::int64_t bytes, int blocks_per_peer, unsigned threads) {
    CAPTURE(bytes);
    CAPTURE(blocks_per_peer);
    const auto found = blocks_of(slab_transpose(2, 4096, 512, bytes), blocks_per_peer);
    CHECK(found.threads == threads);
    CHECK(found.blocks == 2 * static_cast<std::uint64_t>(blocks_per_peer));
  };
  check(4, 2, 1024);
  check(4, 33, 512);  // 1024 would leave some of them without a tile
  check(4, 34, 256);  // more than one for two of the 132 multiprocessors
  check(16, 4, 1024);
  check(8, 4, 1024);
  check(2, 4, 512);
  check(1, 4, 256);
}

TEST_CASE("large blocks write each element once, and nothing else" * doctest::skip(TWILL_SANITIZED)) {
  auto gpu = twill::device::open("simt:h200");
  twill::set_checks(gpu, true);
  for (const std::int64_t bytes : {2, 4, 8, 16}) {
    CAPTURE(bytes);
    const auto one = slab_transpose(2, 1088, 288, bytes);  // tiles that are cut at both ends
    std::vector<twill::stream> streams;
    std::vector<twill::stream_ref> refs;
    std::vector<twill::buffer<unsigned char>> ins, outs;
    std::vector<twill::member_memory> memory;
    for (int rank = 0; rank < 2; ++rank) {
      refs.emplace_back(streams.emplace_back(gpu));
      ins.emplace_back(gpu, static_cast<std::size_t>(1088 / 2 * 288 * bytes));
      outs.emplace_back(gpu, ins.back().size());
      twill::fill_bytes(refs.back(), ins.back().data(), 7, ins.back().size_bytes());
      memory.push_back({ins.back().data(), outs.back().data()});
    }
    twill::global_transpose plan(twill::team::of_devices({gpu, gpu}), bytes, one.shape, memory, direct_with(1));
    plan.run(refs);
    for (std::size_t rank = 0; rank < 2; ++rank) {
      CHECK(support::error_of([&] { refs[rank].wait(); }).empty());
      CHECK(twill::unwritten_bytes(gpu, outs[rank].data(), outs[rank].size_bytes()) == 0);
    }
  }
}

TEST_CASE("large blocks move every element to its place") {
  const auto gpu = twill::device::open("simt:h200");
  for (const std::int64_t bytes : {2, 4, 8, 16}) {
    CAPTURE(bytes);
    CHECK(support::right_in_one_process(gpu, slab_transpose(2, 1088, 288, bytes), 1, 0, direct_with(1)));
  }
}

TEST_SUITE_END();
