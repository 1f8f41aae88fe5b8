// Redistributions whose output takes the place of their input.

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/team_run.hpp"
#include "support/thread_link.hpp"

namespace {

using support::code_of;
using support::message_of;
using support::on_each_device;
using support::redistribution;

// Memory of one rank that holds its part before and after, and the scratch.
class rank_in_place {
 public:
  rank_in_place(const redistribution& of, int rank, twill::stream_ref stream)
      : before_(rank_memory(of, of.shape.in, rank)),
        after_(rank_memory(of, of.shape.out, rank)),
        bytes_(std::max<std::size_t>({before_.size(), after_.size(), 1})),
        array_(stream.on(), bytes_),
        scratch_(stream.on(), std::max<std::size_t>(scratch_bytes(of, rank), 1)),
        memory_{array_.data(), array_.data(), {scratch_.data(), scratch_bytes(of, rank)}} {}

  twill::member_memory memory() const { return memory_; }

  void fill_input(twill::stream_ref stream) {
    twill::fill_bytes(stream, array_.data(), 0, bytes_);
    twill::upload_bytes(stream, before_.data(), array_.data(), before_.size());
    stream.wait();
  }

  bool right(twill::stream_ref stream) {
    std::vector<unsigned char> found(after_.size());
    twill::download_bytes(stream, array_.data(), found.data(), found.size());
    stream.wait();
    return found == after_;
  }

 private:
  static std::size_t scratch_bytes(const redistribution& of, int rank) {
    return twill::global_transpose_scratch_bytes(of.element_bytes, of.shape, rank);
  }

  std::vector<unsigned char> before_, after_;
  std::size_t bytes_;
  twill::raw_buffer array_, scratch_;
  twill::member_memory memory_;
};

// Without gaps in the output, which keep what the input has there.
redistribution random_in_place(support::dice& random) {
  auto one = support::random_redistribution(random, static_cast<int>(random.pick(1, 6)), 3000);
  one.shape.out.lds = {};
  return one;
}

bool right_in_place(const twill::device& device, const redistribution& of, twill::transport via) {
  const auto team = twill::team::of_devices(support::team_devices(device, of.size));
  std::vector<twill::stream> streams;
  std::vector<twill::stream_ref> refs;
  std::vector<std::unique_ptr<rank_in_place>> ranks;
  std::vector<twill::member_memory> memory;
  for (int rank = 0; rank < of.size; ++rank) {
    refs.emplace_back(streams.emplace_back(team.local_device(rank)));
    ranks.push_back(std::make_unique<rank_in_place>(of, rank, refs.back()));
    memory.push_back(ranks.back()->memory());
  }
  twill::global_options options;
  options.via = via;
  twill::global_transpose plan(team, of.element_bytes, of.shape, memory, options);
  bool right = true;
  for (int run = 0; run < 2; ++run) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank]->fill_input(refs[rank]);
    plan.run(refs);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) right = ranks[rank]->right(refs[rank]) && right;
  }
  return right;
}

}  // namespace

TEST_SUITE_BEGIN("global transpose");

TEST_CASE("in place: literal, forth and back") {
  on_each_device([](const twill::device& device) {
    const auto team = twill::team::of_devices({device, device});
    const twill::stream stream(device);
    twill::buffer<int> a(device, 8), b(device, 8), scratch_a(device, 8), scratch_b(device, 8);
    const twill::global_shape shape{{4, 4}, {{2, 1}}, {{1, 2}, {1, 0}}};
    CHECK(twill::global_transpose_scratch_bytes(4, shape, 1) == 32);
    const std::vector<int> first{0, 1, 2, 3, 10, 11, 12, 13}, second{20, 21, 22, 23, 30, 31, 32, 33};
    a.upload(first, stream);
    b.upload(second, stream);
    twill::global_transpose plan(team, sizeof(int), shape,
                                 {{a.data(), a.data(), scratch_a}, {b.data(), b.data(), scratch_b}});
    plan.run({stream, stream});
    std::vector<int> x(8), y(8);
    a.download(x, stream);
    b.download(y, stream);
    stream.wait();
    CHECK(x == std::vector<int>{0, 10, 20, 30, 1, 11, 21, 31});
    CHECK(y == std::vector<int>{2, 12, 22, 32, 3, 13, 23, 33});
    plan.run({stream, stream});
    a.download(x, stream);
    b.download(y, stream);
    stream.wait();
    CHECK(x == first);
    CHECK(y == second);
  });
}

TEST_CASE("in place: random redistributions") {
  on_each_device([](const twill::device& device) {
    support::on_random_rounds(21, [&](std::uint64_t seed, int cases) {
      support::dice random(seed);
      for (int i = 0; i < cases / 4; ++i) {
        const auto one = random_in_place(random);
        CAPTURE(one.text());
        const auto via = random.one_in(2) ? twill::transport::direct : twill::transport::copy;
        CAPTURE(name(via));
        REQUIRE(right_in_place(device, one, via));
      }
    });
    if (device.properties().backend != "simt") {
      CHECK(right_in_place(device, support::slab_transpose(2, 2100, 2100, 4), twill::transport::direct));
    }
  });
}

TEST_CASE("in place: ranks on threads, by messages and mixed") {
  on_each_device([](const twill::device& device) {
    if (device.properties().is_gpu) return;
    support::dice random(22);
    for (int i = 0; i < 10; ++i) {
      const auto one = random_in_place(random);
      CAPTURE(one.text());
      for (const auto via : {twill::transport::mpi, twill::transport::mixed}) {
        support::thread_links links(one.size);
        const auto thrown = support::on_each_rank(one.size, [&](int rank) {
          const auto team = twill::team::of_link(device, links.link(rank));
          const twill::stream stream(device);
          rank_in_place memory(one, rank, stream);
          twill::global_options options;
          options.via = via;
          options.ranks_per_node = 2;
          twill::global_transpose plan(team, one.element_bytes, one.shape, {memory.memory()}, options);
          for (int run = 0; run < 2; ++run) {
            memory.fill_input(stream);
            plan.run(stream);
            if (!memory.right(stream)) throw std::runtime_error("wrong result");
          }
        });
        CHECK(thrown == std::vector<std::string>(thrown.size()));
      }
    }
  });
}

TEST_CASE("in place: errors") {
  on_each_device([](const twill::device& device) {
    const auto team = twill::team::of_devices({device, device});
    twill::buffer<int> a(device, 64), scratch(device, 64);
    const twill::global_shape shape{{4, 4}, {{2, 1}}, {{1, 2}, {1, 0}}};
    int* const at = a.data();
    int* const by = scratch.data();
    const auto with = [&](twill::member_memory first, twill::member_memory second) {
      return message_of([&] { twill::global_transpose(team, 4, shape, {first, second}); });
    };
    const twill::member_memory good{at, at, {by, 32}};
    CHECK(with(good, {at + 8, at + 8, {by + 8, 32}}).empty());
    CHECK(with(good, {at + 8, at + 16, {}}).empty());  // the other is not in place
    CHECK(with(good, {at + 8, at + 8, {}}).find("rank 1: scratch is too small (0 bytes, but 32 are needed)") !=
          std::string::npos);
    CHECK(with(good, {at + 8, at + 8, {by + 8, 31}}).find("rank 1: scratch is too small") != std::string::npos);
    CHECK(with(good, {at + 8, at + 8, {by + 7, 32}}).find("scratch of another rank and scratch overlap") !=
          std::string::npos);
    CHECK(with(good, {at + 8, at + 8, {at + 15, 32}}).find("in and scratch overlap") != std::string::npos);
    CHECK(with(good, {at + 8, at + 8, {at + 7, 32}}).find("scratch overlap") != std::string::npos);
    CHECK(with(good, {at + 8, at + 9, {by + 8, 32}}).find("in and out overlap") != std::string::npos);
    CHECK(code_of([&] { twill::global_transpose_scratch_bytes(0, shape, 0); }) == twill::errc::invalid_argument);
    CHECK(code_of([&] { twill::global_transpose_scratch_bytes(4, shape, 2); }) == twill::errc::invalid_argument);
  });
}

TEST_SUITE_END();
