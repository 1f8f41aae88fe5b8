// What one warp instruction costs on each architecture: examples worked by hand from the vendors' rules.

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "backends/simt/transaction_counter.hpp"
#include "support/simt_launch.hpp"
#include "support/simt_warp_access.hpp"

using namespace twill;
using support::global_cost_of;
using support::global_load;
using support::global_store;
using support::shared_load;
using support::shared_store;
using support::wavefronts_of;

namespace {

// Addresses of lane k.
auto stride(int bytes, int from = 0) {
  return [=](unsigned k) { return from + static_cast<int>(k) * bytes; };
}

std::string sizes_text(const simt::global_cost& cost) {
  std::string text;
  for (unsigned i = 0; i < cost.transactions; ++i) text += std::to_string(cost.list[i].bytes) + " ";
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("simt rules");

TEST_CASE("cc 1.0: only aligned words in lane order coalesce") {
  CHECK(sizes_text(global_cost_of("sm_10", global_load(4, stride(4)))) == "64 64 ");
  CHECK(sizes_text(global_cost_of("sm_10", global_load(8, stride(8)))) == "128 128 ");
  CHECK(sizes_text(global_cost_of("sm_10", global_load(16, stride(16)))) == "128 128 128 128 ");
  CHECK(global_cost_of("sm_10", global_load(4, stride(4, 4))).transactions == 32);  // aligned to 4, not to 64
  CHECK(global_cost_of("sm_10", global_load(4, [](unsigned k) { return (k ^ 1) * 4; })).transactions == 32);
  const auto bytes = global_cost_of("sm_11", global_load(1, stride(1)));  // never for 1 byte
  CHECK(bytes.transactions == 32);
  CHECK(bytes.ideal_transactions == 32);
  CHECK(bytes.bytes_moved == 1024);
  CHECK(bytes.bytes_used == 32);
}

TEST_CASE("cc 1.0: lanes that sit out do not break a coalesced access") {
  auto load = global_load(4, stride(4));
  load.active &= ~std::uint64_t{0x0ff1};
  CHECK(sizes_text(global_cost_of("sm_10", load)) == "64 64 ");
  load.active = 0xffff0000;  // the first half warp asks for nothing
  const auto cost = global_cost_of("sm_10", load);
  CHECK(cost.requests == 1);
  CHECK(cost.list[0].address == 64);
}

TEST_CASE("cc 1.3: segments shrink to the part that is used") {
  CHECK(sizes_text(global_cost_of("sm_13", global_load(4, stride(4)))) == "64 64 ");
  // One word further: the first half warp fills bytes 4 to 68 of its segment, the second 68 to 132.
  CHECK(sizes_text(global_cost_of("sm_13", global_load(4, stride(4, 4)))) == "128 64 32 ");
  CHECK(sizes_text(global_cost_of("sm_13", global_load(4, stride(8)))) == "128 128 ");
  CHECK(sizes_text(global_cost_of("sm_13", global_load(1, stride(1)))) == "32 32 ");
  CHECK(sizes_text(global_cost_of("sm_13", global_load(2, stride(2)))) == "32 32 ");
  CHECK(sizes_text(global_cost_of("sm_13", global_load(16, stride(16)))) == "128 128 128 128 ");
  const auto far = global_cost_of("sm_13", global_store(4, stride(8192)));
  CHECK(far.transactions == 32);
  CHECK(far.bytes_moved == 32 * 32);
  CHECK(far.ideal_transactions == 2);
  CHECK(sizes_text(global_cost_of("sm_13", global_load(4, [](unsigned) { return 100; }))) == "32 32 ");
}

TEST_CASE("cc 1.3: 16 banks, one word broadcast a cycle") {
  CHECK(wavefronts_of("sm_13", shared_load(4, stride(4))) == 2);
  CHECK(wavefronts_of("sm_13", shared_load(4, stride(4 * 17))) == 2);
  CHECK(wavefronts_of("sm_13", shared_load(4, stride(4 * 16))) == 32);
  CHECK(wavefronts_of("sm_13", shared_load(4, stride(4 * 2))) == 4);
  CHECK(wavefronts_of("sm_13", shared_load(4, [](unsigned) { return 20; })) == 2);  // the broadcast
  // Two words of one bank, eight lanes each: the first is broadcast, then the second.
  CHECK(wavefronts_of("sm_13", shared_load(4, [](unsigned k) { return k % 2 * 64; })) == 4);
  CHECK(wavefronts_of("sm_13", shared_load(8, stride(8))) == 8);  // two 32-bit accesses, each two-way
  // Four bytes of a word: only the lowest lane's word is broadcast, the others wait.
  CHECK(wavefronts_of("sm_13", shared_load(1, stride(1))) == 8);
}

TEST_CASE("cc 2.x: loads by lines, stores by sectors") {
  CHECK(sizes_text(global_cost_of("sm_20", global_load(4, stride(4)))) == "128 ");
  CHECK(sizes_text(global_cost_of("sm_20", global_load(4, stride(4, 4)))) == "128 128 ");
  CHECK(sizes_text(global_cost_of("sm_20", global_store(4, stride(4)))) == "32 32 32 32 ");
  CHECK(global_cost_of("sm_20", global_load(8, stride(8))).requests == 2);
  CHECK(global_cost_of("sm_20", global_load(16, stride(16))).requests == 4);
  CHECK(wavefronts_of("sm_20", shared_load(4, stride(4 * 32))) == 32);
  CHECK(wavefronts_of("sm_20", shared_load(4, stride(4 * 33))) == 1);
  CHECK(wavefronts_of("sm_20", shared_load(4, [](unsigned k) { return k % 7 * 4; })) == 1);  // many words multicast
}

TEST_CASE("cc 3.x: sectors, and banks of 8 bytes") {
  CHECK(global_cost_of("sm_35", global_load(4, stride(4))).transactions == 4);
  CHECK(global_cost_of("sm_35", global_load(4, stride(4, 4))).transactions == 5);
  CHECK(global_cost_of("sm_35", global_load(4, stride(4096))).transactions == 32);
  // Words i and i + 32 of an aligned run of 64 go together: a column of a 32-word pitch takes half the wavefronts.
  CHECK(wavefronts_of("sm_35", shared_load(4, stride(4 * 32))) == 16);
  CHECK(wavefronts_of("sm_35", shared_load(4, stride(4 * 64))) == 32);
  CHECK(wavefronts_of("sm_35", shared_load(4, stride(4 * 33))) == 1);
  CHECK(wavefronts_of("sm_35", shared_load(8, stride(8))) == 1);
  CHECK(wavefronts_of("sm_35", shared_load(16, stride(16))) == 2);
}

TEST_CASE("cc 5.x and 6.x: requests of 8, 4 and 2 lanes") {
  CHECK(global_cost_of("sm_61", global_load(4, stride(4))).requests == 4);
  CHECK(global_cost_of("sm_61", global_load(4, stride(4))).transactions == 4);
  CHECK(global_cost_of("sm_61", global_load(8, stride(8))).requests == 8);
  CHECK(global_cost_of("sm_61", global_load(16, stride(16))).requests == 16);
  // 1-byte lanes: each request of 8 lanes takes the sector again.
  CHECK(global_cost_of("sm_61", global_load(1, stride(1))).transactions == 4);
  CHECK(wavefronts_of("sm_61", shared_load(4, stride(4 * 32))) == 32);
}

TEST_CASE("cc 7.x to 9.x: sectors a request") {
  const auto row = global_cost_of("sm_90", global_load(4, stride(4)));
  CHECK(row.requests == 1);
  CHECK(row.transactions == 4);
  CHECK(row.ideal_transactions == 4);
  CHECK(row.lsu_clocks == 1);
  CHECK(global_cost_of("sm_90", global_load(4, stride(4, 4))).transactions == 5);
  CHECK(global_cost_of("sm_90", global_load(16, stride(16))).transactions == 16);
  CHECK(global_cost_of("sm_90", global_load(16, stride(16))).lsu_clocks == 4);
  CHECK(global_cost_of("sm_90", global_load(1, stride(1))).transactions == 1);
  CHECK(global_cost_of("sm_90", global_load(16, stride(16, 8))).transactions == 17);
  const auto column = global_cost_of("sm_90", global_store(4, stride(4096)));
  CHECK(column.transactions == 32);
  CHECK(column.ideal_transactions == 4);
  CHECK(column.lsu_clocks == 32);  // all in one bank
  // gpu-benches, H200: stride 3 takes 1.63 clocks, 15 takes 4.6.
  CHECK(global_cost_of("sm_90", global_load(4, stride(12))).lsu_clocks == doctest::Approx(1.63).epsilon(0.16));
  CHECK(global_cost_of("sm_90", global_load(4, stride(60))).lsu_clocks == doctest::Approx(4.6).epsilon(0.06));
  CHECK(global_cost_of("sm_90", global_load(4, stride(20))).lsu_clocks == doctest::Approx(2.0).epsilon(0.1));
}

TEST_CASE("cc 7.x to 9.x: wavefronts by 32, 16 and 8 lanes") {
  CHECK(wavefronts_of("sm_90", shared_load(4, stride(4))) == 1);
  CHECK(wavefronts_of("sm_90", shared_load(4, stride(4 * 32))) == 32);
  CHECK(wavefronts_of("sm_90", shared_load(8, stride(8))) == 2);
  CHECK(wavefronts_of("sm_90", shared_load(16, stride(16))) == 4);
  CHECK(wavefronts_of("sm_90", shared_load(16, stride(16 * 8))) == 32);
  // A pitch of 33 doubles: 66 k mod 32 = 2 k, sixteen pairs of banks for the sixteen lanes.
  CHECK(wavefronts_of("sm_90", shared_load(8, stride(8 * 33))) == 2);
  auto half = shared_load(8, stride(8));
  half.active = 0xffff;
  CHECK(wavefronts_of("sm_90", half) == 1);
}

TEST_CASE("cc 7.x to 9.x: wide loads of pairs that share an address take half the wavefronts") {
  const auto one = [](unsigned) { return 64; };
  CHECK(wavefronts_of("sm_90", shared_load(8, one)) == 1);
  CHECK(wavefronts_of("sm_90", shared_load(16, one)) == 2);
  CHECK(wavefronts_of("sm_90", shared_store(8, one)) == 2);
  CHECK(wavefronts_of("sm_90", shared_load(8, [](unsigned k) { return k / 2 * 8; })) == 1);
  CHECK(wavefronts_of("sm_90", shared_load(16, [](unsigned k) { return k / 4 * 32 + k % 2 * 16; })) ==
        2);  // k and k ^ 2
  CHECK(wavefronts_of("sm_90", shared_load(8, [](unsigned k) { return k == 31 ? 8 : 0; })) == 2);
}

TEST_CASE("no access costs less than its ideal") {
  const char* const all[] = {"sm_10", "sm_13",  "sm_20",  "sm_35",  "sm_61",
                             "sm_90", "gfx90a", "gfx942", "gfx950", "gfx1100"};
  for (const char* architecture : all) {
    CAPTURE(architecture);
    for (const int bytes : {1, 2, 4, 8, 16}) {
      CAPTURE(bytes);
      for (const int shared_by : {1, 2, 5, 32}) {
        auto load = global_load(bytes, [&](unsigned k) { return static_cast<int>(k) / shared_by * bytes; });
        for (const std::uint64_t active : {~std::uint64_t{0} >> 32, std::uint64_t{1}, std::uint64_t{0x00f10003}}) {
          load.active = active;
          const auto cost = global_cost_of(architecture, load);
          CHECK(cost.ideal_transactions <= cost.transactions);
          CHECK(cost.ideal_transactions > 0);
        }
      }
    }
  }
  CHECK(global_cost_of("sm_35", global_load(4, [](unsigned) { return 0; })).ideal_transactions == 1);
  CHECK(global_cost_of("sm_13", global_load(8, [](unsigned) { return 0; })).ideal_transactions == 2);
}

TEST_CASE("cc 9.0: a byte tile with a pitch of 33 has conflicts, as an H200 counts them") {
  // One warp for each of the 32 columns: 57,344 wavefronts for 32,768 requests is 1.75 a request.
  unsigned loads = 0, stores = 0;
  for (int column = 0; column < 32; ++column) {
    loads += wavefronts_of("sm_90", shared_load(1, stride(33, column)));
    stores += wavefronts_of("sm_90", shared_store(1, stride(1, 33 * column)));
  }
  CHECK(loads == 56);
  CHECK(stores == 32);
}

TEST_CASE("wave64: halves, runs, and the groups of 16-byte reads") {
  CHECK(wavefronts_of("gfx90a", shared_load(4, stride(4), 64)) == 2);
  CHECK(wavefronts_of("gfx90a", shared_load(4, stride(4 * 32), 64)) == 64);
  CHECK(wavefronts_of("gfx906", shared_store(8, stride(8), 64)) == 4);
  CHECK(wavefronts_of("gfx942", shared_store(16, stride(16), 64)) == 8);
  CHECK(wavefronts_of("gfx942", shared_load(16, stride(16), 64)) == 8);
  // Lanes 0 to 7 in one bank, the others in places of their own: consecutive lanes meet in a store. A load takes lanes
  // 0 to 3 and 4 to 7 in different groups.
  const auto meet = [](unsigned k) { return k < 8 ? k * 128 : 4096 + 16 + k % 7 * 16; };
  CHECK(wavefronts_of("gfx942", shared_store(16, meet, 64)) == 8 + 7);
  CHECK(wavefronts_of("gfx942", shared_load(16, meet, 64)) == 8 + 3 + 3);
}

TEST_CASE("gfx950: 64 banks for wide reads, 32 for all else") {
  CHECK(wavefronts_of("gfx950", shared_load(8, stride(8), 64)) == 2);
  CHECK(wavefronts_of("gfx950", shared_store(8, stride(8), 64)) == 4);
  CHECK(wavefronts_of("gfx950", shared_load(16, stride(16), 64)) == 4);
  CHECK(wavefronts_of("gfx950", shared_load(8, stride(8 * 16), 64)) == 32);
  CHECK(wavefronts_of("gfx950", shared_load(4, stride(4 * 32), 64)) == 64);  // 4 bytes see 32 banks both ways
  CHECK(wavefronts_of("gfx950", shared_store(4, stride(4 * 32), 64)) == 64);
}

TEST_CASE("which lanes the groups of 16-byte reads are made of") {
  // Two lanes meet in a bank, all others ask for one word: a wavefront more when the two are in one group.
  const auto meets = [](const char* architecture, unsigned a, unsigned b) {
    const auto separate = shared_load(16, [&](unsigned k) { return k == a ? 0 : 1024 + (k == b ? 16 : 32); }, 64);
    const auto together = shared_load(16, [&](unsigned k) { return k == a ? 0 : 1024 + (k == b ? 0 : 32); }, 64);
    return wavefronts_of(architecture, together) > wavefronts_of(architecture, separate);
  };
  const std::pair<const char*, std::string> groups[] = {{"gfx942", "AAAABBBBCCCCDDDDBBBBAAAADDDDCCCC"},
                                                        {"gfx950", "AAAABBBBBBBBAAAABBBBAAAAAAAABBBB"}};
  for (const auto& each : groups) {
    const char* const architecture = each.first;
    const std::string& group = each.second;
    bool as_stated = true;
    for (unsigned a = 0; a < 32; ++a) {
      for (unsigned b = a + 1; b < 32; ++b) {
        as_stated = as_stated && meets(architecture, a, b) == (group[a] == group[b]);
        as_stated = as_stated && meets(architecture, a + 32, b + 32) == (group[a] == group[b]);
        as_stated = as_stated && !meets(architecture, a, b + 32);
      }
    }
    CHECK_MESSAGE(as_stated, architecture);
  }
}

TEST_CASE("AMD global memory: four lanes that do not follow each other take two cycles") {
  // gpu-benches, MI210, clocks for 32 lanes: 2.2 in runs of 16, 7.5 in runs of 4, 16.1 at stride 2, 32.2 at large
  // strides.
  const auto lsu_clocks = [](const char* architecture, int bytes, auto address) {
    return global_cost_of(architecture, global_load(bytes, address, 64)).lsu_clocks;
  };
  CHECK(lsu_clocks("gfx90a", 4, stride(4)) == 2 * 2);
  CHECK(lsu_clocks("gfx90a", 4, [](unsigned k) { return k / 4 * 64 + k % 4 * 4; }) == 2 * 8);
  CHECK(lsu_clocks("gfx90a", 4, stride(8)) == 2 * 16);
  CHECK(lsu_clocks("gfx90a", 4, stride(4096)) == 2 * 32);
  CHECK(lsu_clocks("gfx942", 16, stride(16)) == 16);
  CHECK(lsu_clocks("gfx942", 4, [](unsigned) { return 64; }) == 1);
}

TEST_CASE("wave32 of RDNA") {
  CHECK(wavefronts_of("gfx1030", shared_load(4, stride(4))) == 1);
  CHECK(wavefronts_of("gfx1100", shared_load(8, stride(8))) == 2);
  CHECK(wavefronts_of("gfx1100", shared_load(16, stride(16))) == 4);
  CHECK(wavefronts_of("gfx1030", shared_store(4, stride(4 * 32))) == 32);
}

TEST_CASE("AMD global memory: lines of the L1 cache") {
  CHECK(global_cost_of("gfx90a", global_load(4, stride(4), 64)).transactions == 4);
  CHECK(global_cost_of("gfx942", global_load(4, stride(4), 64)).transactions == 2);
  CHECK(global_cost_of("gfx1030", global_load(4, stride(4))).transactions == 1);
  CHECK(global_cost_of("gfx906", global_store(4, stride(4096), 64)).transactions == 64);
}

TEST_CASE("the counter adds up by site and direction") {
  simt::transaction_counter counter("sm_90");
  auto load = global_load(4, stride(4));
  load.site = 7;
  counter.add(load);
  counter.add(load);
  auto store = global_store(4, stride(4096));
  store.site = 8;
  counter.add(store);
  auto shared = shared_load(4, stride(8));
  shared.site = 9;
  counter.add(shared);
  shared.active = 0;
  counter.add(shared);

  const auto& all = counter.total();
  CHECK(all.global_loads.requests == 2);
  CHECK(all.global_loads.transactions == 8);
  CHECK(all.global_loads.used() == 1.0);
  CHECK(all.global_stores.transactions == 32);
  CHECK(all.global_stores.used() == 0.125);
  CHECK(all.shared_loads.requests == 1);
  CHECK(all.shared_loads.conflicts() == 1);
  CHECK(all.shared_stores.requests == 0);
  REQUIRE(counter.sites().size() == 3);
  CHECK(counter.sites().at(7).global_loads.requests == 2);
  CHECK(counter.sites().at(8).global_loads.requests == 0);
}

TEST_CASE("errors: an architecture without rules") {
  const std::string problem = support::error_of([] { simt::transaction_counter counter("sm_99"); });
  CHECK(support::contains(problem, "\"sm_99\""));
  CHECK(support::contains(problem, "gfx1100"));
}
