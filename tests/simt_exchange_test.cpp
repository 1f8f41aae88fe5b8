// The kernel of exchanges, by the number of its blocks: how large they are, and that what they move is right.

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
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

/// On a device with its checks on: no rank faults, and every byte of the outputs is written.
void check_writes(const twill::device& gpu, const redistribution& one, const twill::global_options& options) {
  std::vector<twill::stream> streams;
  std::vector<twill::stream_ref> refs;
  std::vector<twill::buffer<unsigned char>> ins, outs;
  std::vector<twill::member_memory> memory;
  const auto bytes_of = [&](const twill::distribution& side, int rank) {
    return static_cast<std::size_t>(twill::part_of(one.shape.extents, side, rank).elements * one.element_bytes);
  };
  for (int rank = 0; rank < one.size; ++rank) {
    refs.emplace_back(streams.emplace_back(gpu));
    ins.emplace_back(gpu, bytes_of(one.shape.in, rank));
    outs.emplace_back(gpu, bytes_of(one.shape.out, rank));
    twill::fill_bytes(refs.back(), ins.back().data(), 7, ins.back().size_bytes());
    memory.push_back({ins.back().data(), outs.back().data()});
  }
  const auto team = twill::team::of_devices(std::vector<twill::device>(static_cast<std::size_t>(one.size), gpu));
  twill::global_transpose plan(team, one.element_bytes, one.shape, memory, options);
  plan.run(refs);
  for (std::size_t rank = 0; rank < refs.size(); ++rank) {
    CHECK(support::error_of([&] { refs[rank].wait(); }).empty());
    CHECK(twill::unwritten_bytes(gpu, outs[rank].data(), outs[rank].size_bytes()) == 0);
  }
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
    check_writes(gpu, one, direct_with(1));
  }
}

TEST_CASE("large blocks move every element to its place") {
  const auto gpu = twill::device::open("simt:h200");
  for (const std::int64_t bytes : {2, 4, 8, 16}) {
    CAPTURE(bytes);
    CHECK(support::right_in_one_process(gpu, slab_transpose(2, 1088, 288, bytes), 1, 0, direct_with(1)));
  }
}

TEST_CASE("misaligned pieces are moved by one kernel" * doctest::skip(TWILL_SANITIZED)) {
  for (const std::int64_t bytes : {1, 2, 4, 8}) {
    CAPTURE(bytes);
    const auto gpu = twill::device::open("simt:h200");
    const auto one = slab_transpose(2, 1301, 403, bytes);
    support::team_images ranks(gpu, one);
    twill::global_transpose plan(ranks.team, bytes, one.shape, ranks.memory, direct_with(0));
    const auto seen = twill::take_profile(gpu, [&] { plan.run(ranks.streams); });
    int kernels = 0;
    for (const auto& kernel : seen.kernels) kernels += kernel.name.find("exchange_misaligned") != std::string::npos;
    CHECK(kernels == 2);  // one a rank
  }
}

TEST_CASE("misaligned pieces: each element once, and nothing else" * doctest::skip(TWILL_SANITIZED)) {
  auto gpu = twill::device::open("simt:h200");
  twill::set_checks(gpu, true);
  for (const std::int64_t bytes : {1, 2, 4, 8}) {
    CAPTURE(bytes);
    check_writes(gpu, slab_transpose(2, 1301, 403, bytes), direct_with(0));
    check_writes(gpu, slab_transpose(2, 637, 403, bytes), direct_with(0));  // of 319 and 318 rows
  }
}

TEST_CASE("reference: misaligned pieces whose rows end in a warp" * doctest::skip(TWILL_SANITIZED)) {
  const auto gpu = twill::device::open("simt:h200");
  for (const std::int64_t rows : {633, 637, 1301}) {
    CAPTURE(rows);
    for (const std::int64_t bytes : {1, 2, 4, 8}) {
      CHECK(support::right_in_one_process(gpu, slab_transpose(2, rows, 403, bytes), 1, 0, direct_with(0)));
    }
  }
}

TEST_SUITE_END();
