// The plan of a redistribution, without a device: every element of every rank's output is written once, with what the
// definition says, whole and cut into messages.

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "support/redistribution.hpp"
#include "team/plan/choice.hpp"
#include "team/plan/exchange.hpp"
#include "team/plan/pitched.hpp"
#include "team/plan/tuning_race.hpp"

namespace {

using support::redistribution;
using twill::detail::offset_move;
using twill::detail::permute_args;
using twill::detail::piece;
using twill::detail::team_layout;

void fill_side(twill::detail::team_side& to, const twill::distribution& from, int rank) {
  for (int d = 0; d < rank; ++d) {
    to.parts[d] = from.parts[d];
    to.order[d] = from.order.size() == 0 ? d : static_cast<int>(from.order[d]);
    to.lds[d] = from.lds.size() == 0 ? 0 : from.lds[d];
  }
}

team_layout layout_of(const redistribution& of) {
  team_layout layout{};
  layout.rank = of.shape.extents.size();
  layout.size = of.size;
  layout.element_bytes = of.element_bytes;
  for (int d = 0; d < layout.rank; ++d) layout.extents[d] = of.shape.extents[d];
  fill_side(layout.in, of.shape.in, layout.rank);
  fill_side(layout.out, of.shape.out, layout.rank);
  return layout;
}

// Moves byte by byte; counts how often each byte is written.
void apply(const permute_args& a, const unsigned char* out_first, std::vector<int>& written) {
  std::int64_t runs = 1;
  for (int i = 0; i < a.rank; ++i) runs *= a.dims[i].extent;
  for (std::int64_t run = 0; run < runs; ++run) {
    const auto* in = static_cast<const unsigned char*>(a.in);
    auto* out = static_cast<unsigned char*>(a.out);
    std::int64_t rest = run;
    for (int i = 0; i < a.rank; ++i) {
      in += rest % a.dims[i].extent * a.dims[i].in_stride;
      out += rest % a.dims[i].extent * a.dims[i].out_stride;
      rest /= a.dims[i].extent;
    }
    std::memcpy(out, in, static_cast<std::size_t>(a.run_bytes));
    for (std::int64_t b = 0; b < a.run_bytes; ++b) ++written[static_cast<std::size_t>(out - out_first + b)];
  }
}

struct simulated_team {
  explicit simulated_team(const redistribution& of) : layout(layout_of(of)) {
    for (int rank = 0; rank < of.size; ++rank) {
      in.push_back(support::rank_memory(of, of.shape.in, rank));
      expected.push_back(support::rank_memory(of, of.shape.out, rank));
      out.emplace_back(expected.back().size(), support::gap_byte);
      written.emplace_back(expected.back().size(), 0);
    }
  }

  void move(const offset_move& one, const unsigned char* from, int to) {
    const auto at = static_cast<std::size_t>(to);
    apply(twill::detail::with_memory(one, from, out[at].data()), out[at].data(), written[at]);
  }

  // Written once: each element; never: each gap.
  bool right() const {
    for (std::size_t rank = 0; rank < out.size(); ++rank) {
      if (out[rank] != expected[rank]) return false;
      std::int64_t bytes = 0;
      for (const int times : written[rank]) {
        if (times > 1) return false;
        bytes += times;
      }
      const auto box = box_of(layout, layout.out, static_cast<int>(rank));
      if (bytes != elements_of(box, layout.rank) * layout.element_bytes) return false;
    }
    return true;
  }

  team_layout layout;
  std::vector<std::vector<unsigned char>> in, expected, out;
  std::vector<std::vector<int>> written;
};

bool moved_whole(const redistribution& of) {
  simulated_team team(of);
  for (int rank = 0; rank < of.size; ++rank) {
    int before = -1;
    for (const piece& to : pieces_from(team.layout, rank)) {
      const int step = (to.peer - rank + of.size) % of.size;
      if (step <= before) return false;  // in ring order, one for each peer
      before = step;
      team.move(move_of(team.layout, rank, to), team.in[static_cast<std::size_t>(rank)].data(), to.peer);
    }
  }
  return team.right();
}

// As transport mpi does: both sides cut their own lists, and the messages of a pair must be the same.
bool moved_by_messages(const redistribution& of, std::int64_t most_bytes) {
  simulated_team team(of);
  for (int rank = 0; rank < of.size; ++rank) {
    for (const piece& from : pieces_to(team.layout, rank)) {
      std::vector<piece> sent;
      for (const piece& to : pieces_from(team.layout, from.peer)) {
        if (to.peer == rank) sent = split(team.layout, to, most_bytes);
      }
      const std::vector<piece> received = split(team.layout, from, most_bytes);
      if (sent.size() != received.size()) return false;
      for (std::size_t n = 0; n < sent.size(); ++n) {
        if (sent[n].bytes != received[n].bytes) return false;
        if (sent[n].bytes > most_bytes && sent[n].bytes != of.element_bytes) return false;
        std::vector<unsigned char> message(static_cast<std::size_t>(sent[n].bytes), 0);
        std::vector<int> packed(message.size(), 0);
        apply(with_memory(pack_of(team.layout, from.peer, sent[n]), team.in[static_cast<std::size_t>(from.peer)].data(),
                          message.data()),
              message.data(), packed);
        for (const int times : packed) {
          if (times != 1) return false;
        }
        team.move(unpack_of(team.layout, rank, received[n]), message.data(), rank);
      }
    }
  }
  return team.right();
}

}  // namespace

TEST_SUITE_BEGIN("team plan");

TEST_CASE("parts") {
  // 10 indices in 4 parts: 3, 3, 2, 2.
  const std::int64_t first[] = {0, 3, 6, 8, 10};
  for (int part = 0; part <= 4; ++part) CHECK(twill::detail::first_of_part(10, 4, part) == first[part]);
  // More parts than indices.
  for (int part = 0; part <= 5; ++part) CHECK(twill::detail::first_of_part(2, 5, part) == std::min(part, 2));
  // Beyond 2^32.
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK(twill::detail::first_of_part(large + 1, 3, 3) == large + 1);
}

TEST_CASE("small redistributions, all of them") {
  int cases = 0;
  for (const int size : {1, 2, 3, 4, 6}) {
    for (std::int64_t in = 1; in <= size; ++in) {
      for (std::int64_t out = 1; out <= size; ++out) {
        if (size % in != 0 || size % out != 0) continue;
        for (int extents = 0; extents < 64; ++extents) {
          for (int orders = 0; orders < 4; ++orders) {
            const twill::dims swapped[2] = {{0, 1}, {1, 0}};
            redistribution one;
            one.size = size;
            one.element_bytes = 1 + cases % 5;
            one.shape = {{extents / 8, extents % 8},
                         {{in, size / in}, swapped[orders % 2]},
                         {{out, size / out}, swapped[orders / 2]}};
            CAPTURE(one.text());
            REQUIRE(moved_whole(one));
            REQUIRE(moved_by_messages(one, 16));
            ++cases;
          }
        }
      }
    }
  }
  CHECK(cases == 8704);
}

TEST_CASE("random redistributions") {
  support::on_random_rounds(11, [](std::uint64_t seed, int cases) {
    support::dice random(seed);
    for (int i = 0; i < 5 * cases; ++i) {
      const auto one = support::random_redistribution(random, static_cast<int>(random.pick(1, 24)), 2000);
      CAPTURE(one.text());
      REQUIRE(moved_whole(one));
      REQUIRE(moved_by_messages(one, random.pick(1, 3000)));
    }
  });
}

TEST_CASE("offsets beyond 2^31 elements") {
  // 2^36 elements: nothing is moved, the plan alone is made.
  redistribution one;
  one.size = 4;
  one.element_bytes = 16;
  one.shape = {{std::int64_t{1} << 18, std::int64_t{1} << 18}, {{4, 1}}, {{1, 4}, {1, 0}}};
  const team_layout layout = layout_of(one);
  const auto pieces = pieces_from(layout, 3);
  REQUIRE(pieces.size() == 4);
  CHECK(pieces[1].peer == 0);
  CHECK(pieces[1].bytes == (std::int64_t{1} << 32) * 16);
  const offset_move move = move_of(layout, 3, pieces[0]);  // to itself: its last quarter of columns
  CHECK(move.in_offset == (std::int64_t{3} << 16) * 16);
  CHECK(move.out_offset == (std::int64_t{3} << 16) * 16);
  REQUIRE(move.form.rank == 2);
  CHECK(move.form.dims[0].in_stride == (std::int64_t{1} << 18) * 16);
  CHECK(move.form.dims[1].out_stride == (std::int64_t{1} << 18) * 16);
}

TEST_CASE("copies of rows are the movement that they are made of") {
  support::dice random(31);
  int cut = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto one = support::random_redistribution(random, static_cast<int>(random.pick(1, 8)), 2000);
    const team_layout layout = layout_of(one);
    const int rank = static_cast<int>(random.pick(0, one.size - 1));
    for (const piece& to : pieces_from(layout, rank)) {
      const offset_move move = unpack_of(layout, to.peer, to);
      const auto parts = twill::detail::pitched_parts(move.form, 16);
      if (!parts) continue;
      ++cut;
      REQUIRE(parts->size() <= 16);
      const auto end = static_cast<std::size_t>(twill::part_of(one.shape.extents, one.shape.out, to.peer).elements *
                                                layout.element_bytes);
      std::vector<unsigned char> in(static_cast<std::size_t>(to.bytes)), whole(end), rows(end);
      for (std::size_t k = 0; k < in.size(); ++k) in[k] = static_cast<unsigned char>(1 + k % 255);
      std::vector<int> once(end);
      permute_args args = with_memory(move, in.data(), whole.data());
      apply(args, whole.data(), once);
      for (const auto& part : *parts) {
        for (std::int64_t row = 0; row < part.rows; ++row) {
          std::memcpy(rows.data() + move.out_offset + part.out_offset + row * part.out_pitch,
                      in.data() + move.in_offset + part.in_offset + row * part.in_pitch,
                      static_cast<std::size_t>(part.row_bytes));
        }
      }
      REQUIRE(rows == whole);
    }
  }
  CHECK(cut > 1000);
}

TEST_CASE("small arrays by kernels, large ones by copy engines") {
  const auto cost = [](std::int64_t n, int size, const twill::detail::transport_cost& of) {
    return seconds_of(of, layout_of(support::slab_transpose(size, n, n, 4)));
  };
  for (const int size : {2, 4, 8}) {
    CHECK(cost(2048, size, twill::detail::direct_cost) < cost(2048, size, twill::detail::copy_cost));
    CHECK(cost(131072, size, twill::detail::copy_cost) < cost(131072, size, twill::detail::direct_cost));
  }
  // 3/4 of 64 MiB to 3 peers at 355 GB/s, and 12 us to begin.
  CHECK(cost(8192, 4, twill::detail::direct_cost) == doctest::Approx(12e-6 + 48.0 * 1024 * 1024 / 355e9));
}

TEST_CASE("ranks settle on the candidate whose slowest rank is fastest") {
  const auto fastest = [](const std::vector<std::vector<double>>& seconds) {
    twill::detail::tuning_race race(seconds.size());
    for (std::size_t at = 0; at < seconds.size(); ++at) race.add(at, seconds[at]);
    return race.fastest();
  };
  CHECK(fastest({{1, 9, 1}, {4, 4, 4}, {8, 1, 1}}) == 1);
  CHECK(fastest({{2, 3}, {3, 1}, {1, 3}}) == 0);
}

TEST_CASE("a round that is disturbed changes no choice") {
  twill::detail::tuning_race race(4);
  const std::vector<std::vector<double>> rounds{{5, 2, 17, 6}, {1, 2, 17, 6}, {7, 9, 1, 6}};
  for (const auto& round : rounds) {
    for (std::size_t at = 0; at < round.size(); ++at) {
      if (race.runs(at)) race.add(at, {0.5, round[at]});
    }
    race.drop_slow();
  }
  CHECK(race.fastest() == 0);  // disturbed in two of three rounds
  CHECK_FALSE(race.runs(2));   // 17 is more than 8 times 2: its last round was not run
  CHECK(race.runs(3));
}

TEST_CASE("a candidate that cannot be made is left out, the last one not") {
  twill::detail::tuning_race race(3);
  CHECK_FALSE(race.only(0));
  race.drop(0);
  race.drop(2);
  CHECK(race.only(1));
  race.add(1, {3});
  race.drop_slow();
  CHECK(race.runs(1));
  CHECK_FALSE(race.runs(0));
  CHECK(race.fastest() == 1);
}

TEST_CASE("short runs are timed many at a time") {
  CHECK(twill::detail::runs_of_a_sample({20e-6, 25e-6}) == 20);
  CHECK(twill::detail::runs_of_a_sample({1e-3, 1e-6}) == 1);
  CHECK(twill::detail::runs_of_a_sample({0, 0}) == 32);
}

TEST_CASE("what leaves a node costs nothing within it") {
  const team_layout layout = layout_of(support::slab_transpose(4, 8192, 8192, 4));
  const double all = seconds_of(twill::detail::direct_cost, layout);
  CHECK(seconds_of(twill::detail::direct_cost, layout, {0, 0, 0, 0}) == all);
  // 16 MiB to one peer instead of to three.
  const double two = seconds_of(twill::detail::direct_cost, layout, {0, 0, 1, 1});
  CHECK(two == doctest::Approx(12e-6 + 16.0 * 1024 * 1024 / 355e9));
}

TEST_SUITE_END();
