// Times that are predicted, against what was published, and what the parts of the prediction do by themselves.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

#include <twill/ladder/transpose.hpp>
#include <twill/profile.hpp>
#include <twill/simt.hpp>
#include <twill/transpose.hpp>
#include <twill/twill.hpp>

#include "backends/simt/timing/channels.hpp"
#include "backends/simt/timing/kernel_code.hpp"
#include "backends/simt/timing/prediction.hpp"
#include "models.hpp"
#include "support/simt_ladder_accesses.hpp"
#include "support/simt_launch.hpp"

using namespace twill;
using simt::timing::machine_of;
using support::contains;
using support::error_of;
using support::ladder_launch;

namespace {

simt::timing::launch_prediction predict_ladder(const char* device, const ladder_launch& launch) {
  const auto sheet = simt::find_datasheet(device);
  const auto on = machine_of(sheet);
  simt::timing::trace recorded(simt::rules_of(sheet.architecture), on);
  detail::launch_config config;
  config.block = {static_cast<unsigned>(launch.block_x), static_cast<unsigned>(launch.block_y), 1};
  const auto blocks = static_cast<std::uint64_t>(launch.blocks());
  const auto wanted = std::min(blocks, simt::timing::blocks_to_record(sheet, on, config));
  support::emit_ladder(launch, 0, wanted, [&](const simt::warp_access& access) { recorded.add(access); });
  return predict_launch(sheet, on, recorded, blocks, static_cast<std::uint64_t>(launch.threads()), 0);
}

struct extent_pair {
  std::int64_t rows, cols;
};

double gigabytes_per_second(const char* device, const ladder_launch& launch) {
  const auto on = machine_of(simt::find_datasheet(device));
  const double bytes = 2.0 * static_cast<double>(launch.extent * launch.extent * launch.element_bytes);
  return bytes / (predict_ladder(device, launch).seconds + on.launch_seconds) * 1e-9;
}

}  // namespace

TEST_SUITE_BEGIN("simt prediction");

TEST_CASE("literal: channels of memory") {
  const auto gtx280 = machine_of(simt::find_datasheet("gtx280"));
  CHECK(channel_of(gtx280, 0) == 0);
  CHECK(channel_of(gtx280, 255) == 0);
  CHECK(channel_of(gtx280, 256) == 1);
  CHECK(channel_of(gtx280, 2048 + 7 * 256) == 7);
  const auto g80 = machine_of(simt::find_datasheet("8800gtx"));
  CHECK(channel_of(g80, 6 * 256) == 0);
  const auto mi250x = machine_of(simt::find_datasheet("mi250x"));
  CHECK(channel_of(mi250x, 256) == 1);
  CHECK(channel_of(mi250x, 1 << 16) == 1);
  CHECK(channel_of(mi250x, (1 << 16) + 256) == 0);
  CHECK(channel_of(mi250x, 1 << 12) == 16);
  const auto bit = [](unsigned number) { return std::uint64_t{1} << number; };
  const std::pair<unsigned, unsigned> of_mi200[] = {{20, 16}, {21, 1}, {25, 16}, {26, 0}, {29, 0}, {31, 2}, {34, 16}};
  for (const auto& [number, channel] : of_mi200) CHECK(channel_of(mi250x, bit(number)) == channel);
  CHECK(channel_of(mi250x, bit(34) | bit(12)) == 0);
  const auto mi300x = machine_of(simt::find_datasheet("mi300x"));
  CHECK(channel_of(mi300x, 1 << 11) == 8);
  CHECK(channel_of(mi300x, 1 << 14) == 4 + 16);
  CHECK(channel_of(mi300x, 1 << 13) == 2 + 64);
  const std::pair<unsigned, unsigned> of_mi300[] = {{17, 4}, {18, 8},  {19, 16}, {20, 32}, {21, 64}, {28, 64},
                                                    {29, 1}, {34, 32}, {38, 4},  {40, 16}, {41, 32}, {42, 64},
                                                    {43, 1}, {44, 2},  {45, 4},  {46, 8},  {47, 16}, {48, 0}};
  for (const auto& [number, channel] : of_mi300) CHECK(channel_of(mi300x, bit(number)) == channel);
}

TEST_CASE("every stated hash spreads consecutive blocks evenly") {
  for (const char* name : {"8800gtx", "gtx280", "mi250x", "mi300x"}) {
    const auto on = machine_of(simt::find_datasheet(name));
    std::vector<int> blocks(on.channels);
    for (std::uint64_t i = 0; i < on.channels * 64; ++i) ++blocks[channel_of(on, i * on.interleave_bytes)];
    CAPTURE(name);
    CHECK(*std::min_element(blocks.begin(), blocks.end()) == 64);
  }
}

TEST_CASE("literal: blocks that a multiprocessor holds") {
  const auto sheet = simt::find_datasheet("gtx280");
  const auto on = machine_of(sheet);
  CHECK(resident_blocks(sheet, on, 256, 0) == 4);
  CHECK(resident_blocks(sheet, on, 256, 4224) == 3);  // 16,384 bytes, a part of them for parameters
  CHECK(resident_blocks(sheet, on, 32, 0) == 8);      // never more
  CHECK(resident_blocks(sheet, on, 512, 12000) == 1);
  const auto h200 = simt::find_datasheet("h200");
  CHECK(resident_blocks(h200, machine_of(h200), 256, 4224) == 8);
  CHECK(resident_blocks(h200, machine_of(h200), 256, 65536) == 3);
}

TEST_CASE("code of one architecture says nothing about others") {
  const auto step_of = [](const char* device) {
    const auto sheet = simt::find_datasheet(device);
    auto on = machine_of(sheet);
    count_instructions("twill::simt::kernels::interleaved_divergent<unsigned int>", sheet.architecture, on);
    return on.barrier_instructions;
  };
  CHECK(step_of("h200") == 23);
  CHECK(step_of("k20") == 21);
  CHECK(step_of("8800gtx") == 21 + 3 * 5);  // five of them take the time of four
  for (const char* name : {"mi50", "mi100", "mi250x", "mi300x", "rx6800xt", "rx7900xtx"}) {
    CAPTURE(name);
    CHECK(step_of(name) == machine_of(simt::find_datasheet(name)).barrier_instructions);
  }
}

TEST_CASE("GTX 280: camping on one partition, and none along diagonals") {
  const ladder_launch camping{"conflict-free", 1024}, diagonal{"diagonal", 1024};
  CHECK(predict_ladder("gtx280", camping).busiest_channel > 3);  // half of the bytes: all that is written
  CHECK(predict_ladder("gtx280", diagonal).busiest_channel < 1.5);
}

// Ruetsch and Micikevicius, 2009, loop over the kernel. Three of eight rows, which `twill bench --compare` has all of.
TEST_CASE("GTX 280: rows of the published table, 2048x2048") {
  CHECK(gigabytes_per_second("gtx280", {"copy-shared", 2048}) == doctest::Approx(80.9).epsilon(0.12));
  CHECK(gigabytes_per_second("gtx280", {"conflict-free", 2048}) == doctest::Approx(16.6).epsilon(0.12));
  CHECK(gigabytes_per_second("gtx280", {"diagonal", 2048}) == doctest::Approx(69.5).epsilon(0.12));
}

// Lecture slides: tests/results/published/k20-transpose.json.
TEST_CASE("K20: the four kernels of the slides") {
  const auto rate = [](const char* rung, int block_y) {
    return gigabytes_per_second("k20", ladder_launch{rung, 512, 4, 32, block_y});
  };
  const double naive = rate("naive-row", 32), coalesced = rate("coalesced", 32);
  const double conflict_free = rate("conflict-free", 32), unrolled = rate("unrolled", 8);
  CHECK(unrolled < 208);
  CHECK(naive < coalesced);
  CHECK(coalesced < conflict_free);
  CHECK(conflict_free < unrolled);
  CHECK(gigabytes_per_second("k20", {"conflict-free", 4096, 4, 32, 32}) == doctest::Approx(105.38).epsilon(0.12));
}

TEST_CASE("H200: a rung as it was measured" * doctest::skip(TWILL_SANITIZED)) {
  const auto gpu = device::open("simt:h200");
  const std::int64_t extent = 4096;
  stream on(gpu);
  buffer<float> in(gpu, extent * extent), out(gpu, extent * extent);
  fill_bytes(on, in.data(), 0, in.size_bytes());
  const auto found =
      predict(gpu, [&] { transpose_rung(on, "conflict-free", in.data(), out.data(), 4, extent, extent); });
  CHECK(found.sampled);
  CHECK(found.seconds == doctest::Approx(40.736e-6).epsilon(0.2));  // tests/results/h200-ladder-bytes.json
}

TEST_CASE("no prediction passes the memory's peak, and repeating costs less than starting again") {
  for (const char* name : {"8800gtx", "v100", "a100", "h100", "mi50", "mi100", "rx6800xt", "rx7900xtx"}) {
    CAPTURE(name);
    const auto sheet = simt::find_datasheet(name);
    ladder_launch copy{"copy", 512, 4, 32, 8};
    copy.warp_lanes = static_cast<int>(sheet.warp_size);
    const double once = predict_ladder(name, copy).seconds;
    CHECK(2.0 * 512 * 512 * 4 / once < static_cast<double>(sheet.peak_bytes_per_second));
    copy.repeats = 3;
    const double launch = machine_of(sheet).launch_seconds;
    CHECK(predict_ladder(name, copy).seconds + launch < 3 * (once + launch));
  }
}

TEST_CASE("predict: a recorded transpose" * doctest::skip(TWILL_SANITIZED)) {
  const auto gpu = device::open("simt:h200");
  CHECK(predicts(gpu));
  stream on(gpu);
  buffer<float> in(gpu, 512 * 512), out(gpu, 512 * 512);
  fill_bytes(on, in.data(), 0, in.size_bytes());
  const auto found = predict(gpu, [&] { transpose(on, in.data(), out.data(), {512, 512}); });
  CHECK(found.launches == 1);
  CHECK_FALSE(found.sampled);
  CHECK(found.seconds > predicted_copy_seconds(gpu, 512 * 512 * 4) * 0.8);
  CHECK(found.seconds < 20e-6);
  CHECK(predict(gpu, [] {}).seconds == 0);
}

// Rows at a pitch of a power of two camp on few channels only if blocks that run together take few rows each.
TEST_CASE("AMD: a tuned transpose uses all channels alike" * doctest::skip(TWILL_SANITIZED)) {
  for (const std::string name : {"simt:mi250x", "simt:mi300x"}) {
    const auto gpu = device::open(name);
    stream on(gpu);
    for (const extent_pair shape : {extent_pair{512, 4096}, extent_pair{4096, 512}}) {
      CAPTURE(name);
      CAPTURE(shape.rows);
      const auto bytes = static_cast<std::size_t>(shape.rows * shape.cols) * sizeof(float);
      buffer<float> in(gpu, bytes / sizeof(float)), out(gpu, bytes / sizeof(float));
      fill_bytes(on, in.data(), 0, bytes);
      const auto found = predict(gpu, [&] { transpose(on, in.data(), out.data(), {shape.rows, shape.cols}); });
      CHECK(found.busiest_channel < 1.15);
      CHECK(found.seconds < predicted_copy_seconds(gpu, bytes) * 1.15);
    }
  }
}

TEST_CASE("links: bytes out of a device at the rate of all its links, and to one peer at the rate of one") {
  const auto mesh = device::open("simt:mi300x");  // seven peers, a link to each
  const auto link = simt::find_datasheet("mi300x").link;
  const auto second = static_cast<std::int64_t>(link.bytes_per_second);
  const auto peer_second = static_cast<std::int64_t>(link.peer_bytes_per_second);
  REQUIRE(peer_second < second);
  CHECK(predicted_link_seconds(mesh, second, 0) == doctest::Approx(1));
  CHECK(predicted_link_seconds(mesh, second, peer_second / 2) == doctest::Approx(1));
  CHECK(predicted_link_seconds(mesh, 3 * peer_second, 3 * peer_second) == doctest::Approx(3));
  CHECK(predicted_link_seconds(mesh, 0, 0) == 0);
  CHECK(contains(link_of(mesh), "448 GB/s out of each device and 64 to one peer, published"));

  const auto switched = device::open("simt:h200");  // copies were measured
  const auto copies = static_cast<std::int64_t>(simt::find_datasheet("h200").link.copy_bytes_per_second);
  REQUIRE(copies > 0);
  CHECK(predicted_link_seconds(switched, copies, copies) == doctest::Approx(1));
  CHECK(contains(link_of(switched), ", measured"));

  CHECK(contains(error_of([&] { predicted_link_seconds(mesh, 1, 2); }), "2 of 1 bytes go to one peer"));
  CHECK(contains(error_of([&] { predicted_link_seconds(mesh, 1, -1); }), "invalid_argument"));
  CHECK(contains(error_of([] { link_of(device::open("simt:mi250x")); }), "has no link"));
  CHECK(contains(error_of([] { predicted_link_seconds(device::open("simt"), 1, 1); }), "predicts no times"));
}

TEST_CASE("errors: what does not predict") {
  for (const char* name : {"simt", "cpu"}) {
    const auto on = device::open(name);
    CHECK_FALSE(predicts(on));
    CHECK(contains(error_of([&] { predict(on, [] {}); }), "predicts no times"));
    CHECK(contains(error_of([&] { predicted_copy_seconds(on, 1); }), "simt:h200"));
  }
}
