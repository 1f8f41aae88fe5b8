// Global transposes between processes: every case runs on all ranks, in the same order.

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <twill/mpi.hpp>
#include <twill/twill.hpp>

#include "support/cases.hpp"
#include "support/team_run.hpp"
#include "support/thread_link.hpp"

namespace {

using support::message_of;
using support::on_each_device;
using support::slab_transpose;

std::pair<int, int> rank_and_size() {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return {rank, size};
}

bool all_right(bool mine) {
  int in = mine ? 1 : 0, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return out == 1;
}

bool some_right(bool mine) {
  return !all_right(!mine);
}

}  // namespace

TEST_CASE("a team of processes") {
  const auto [rank, size] = rank_and_size();
  const auto team = twill::mpi::make_team(MPI_COMM_WORLD, twill::device::open(support::test_devices().front()));
  CHECK(team.size() == size);
  CHECK(team.local_ranks() == std::vector<int>{rank});
  for (int other = 0; other < rank; ++other) {
    CHECK(team.members()[static_cast<std::size_t>(other)].process !=
          team.members()[static_cast<std::size_t>(rank)].process);
  }
}

TEST_CASE("random redistributions") {
  const int size = rank_and_size().second;
  on_each_device([&](const twill::device& device) {
    const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
    support::on_random_rounds(14, [&](std::uint64_t seed, int cases) {
      support::dice random(seed);
      for (int i = 0; i < cases / 4; ++i) {
        const auto one = support::random_redistribution(random, size, 3000);
        CAPTURE(one.text());
        twill::global_options options;
        if (random.one_in(2)) options.via = twill::transport::mpi;
        options.ranks_per_node = static_cast<int>(random.pick(0, 2));  // shared memory within a node
        REQUIRE(all_right(support::right_on_rank(team, one, options, static_cast<int>(random.pick(1, 3)))));
      }
    });
  });
}

TEST_CASE("messages beyond one part, and two teams at once") {
  const int size = rank_and_size().second;
  on_each_device([&](const twill::device& device) {
    const auto one = twill::mpi::make_team(MPI_COMM_WORLD, device),
               other = twill::mpi::make_team(MPI_COMM_WORLD, device);
    CHECK(all_right(support::right_on_rank(one, slab_transpose(size, 2500, 2003, 4), twill::transport::mpi, 2)));
    CHECK(all_right(support::right_on_rank(other, slab_transpose(size, 1000, 1001, 16), twill::transport::mpi, 2)));
    CHECK(all_right(support::right_on_rank(one, slab_transpose(size, 10, 10, 1), twill::transport::mpi, 2)));
  });
}

// TWILL_TEST_RUNS: how often on GPUs.
TEST_CASE("random delays of processes") {
  const auto [rank, size] = rank_and_size();
  on_each_device([&, rank = rank, size = size](const twill::device& device) {
    if (device.properties().backend == "simt") return;
    const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
    const auto on_gpus = support::number_from_environment("TWILL_TEST_RUNS", 1000);
    const int runs = device.properties().is_gpu ? static_cast<int>(on_gpus) : 100;
    const auto delay = [&](int run) {
      const auto draw = static_cast<unsigned>((run * size + rank) * 2654435761u) >> 20;
      if (draw % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(draw % 300));
    };
    std::vector<twill::transport> transports{twill::transport::mpi};
    if (device.properties().is_gpu) transports = {twill::transport::direct, twill::transport::copy};
    for (const auto via : transports) {
      CHECK(all_right(support::right_on_rank(team, slab_transpose(size, 64, 64, 4), via, runs, delay)));
    }
  });
}

TEST_CASE("collectives of processes") {
  const int size = rank_and_size().second;
  on_each_device([&](const twill::device& device) {
    if (!device.properties().is_gpu) return;
    const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
    CHECK(all_right(support::right_on_rank(team, slab_transpose(size, 2048, 1024, 4), twill::transport::nccl, 2)));
    CHECK(all_right(support::right_on_rank(team, slab_transpose(size, 1001, 999, 2), twill::transport::nccl, 2)));
  });
}

TEST_CASE("no memory is shared between processes of the CPU's devices") {
  const int size = rank_and_size().second;
  if (size == 1) return;
  const auto device = twill::device::open("cpu");
  const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
  const std::string text =
      message_of([&] { support::right_on_rank(team, slab_transpose(size, 8, 8, 4), twill::transport::direct, 1); });
  CAPTURE(text);
  CHECK(all_right(text.find("transport direct does not reach all ranks") != std::string::npos));
}

TEST_CASE("ranks that disagree") {
  const auto [rank, size] = rank_and_size();
  if (size == 1) return;
  const auto team = twill::mpi::make_team(MPI_COMM_WORLD, twill::device::open("cpu"));
  const std::string text = message_of([&, rank = rank, size = size] {
    support::right_on_rank(team, slab_transpose(size, 8, rank == 1 ? 9 : 8, 4), twill::transport::mpi, 1);
  });
  CAPTURE(text);
  CHECK(all_right(text.find("ranks disagree on the extents (rank 1 has another") != std::string::npos));
  CHECK(all_right(support::right_on_rank(team, slab_transpose(size, 8, 8, 4), twill::transport::mpi, 1)));
}

// Where processes cannot copy from one another (CMake sets that), MPI sends a long message while it is called.
TEST_CASE("the application's own message is under way while a rank waits for another") {
  const auto [rank, size] = rank_and_size();
  if (size == 1) return;
  const auto device = twill::device::open("cpu");
  const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
  const auto one = slab_transpose(size, 40, 40, 4);
  const twill::stream stream(device);
  support::rank_image image(one, rank, stream, 0);
  twill::global_options options;
  options.via = twill::transport::mpi;
  options.timeout = std::chrono::seconds(10);
  twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
  std::vector<char> message(8 << 20, static_cast<char>(rank + 1));
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) MPI_Isend(message.data(), 8 << 20, MPI_CHAR, 1, 77, MPI_COMM_WORLD, &request);
  if (rank == 1) MPI_Recv(message.data(), 8 << 20, MPI_CHAR, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  plan.run(stream);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(all_right(image.right(stream) && (rank != 1 || message.back() == 1)));
}

TEST_CASE("a rank that does not come") {
  const auto [rank, size] = rank_and_size();
  if (size == 1) return;
  const auto device = twill::device::open("cpu");
  const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device, std::chrono::milliseconds(500));
  const auto one = slab_transpose(size, 40, 40, 4);
  const twill::stream stream(device);
  support::rank_image image(one, rank, stream, 0);
  twill::global_options options;
  options.via = twill::transport::mpi;
  options.timeout = std::chrono::milliseconds(500);  // of ranks that share memory; the team's is of messages
  twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
  std::string text = "rank 1";
  if (rank != 1) text = message_of([&] { plan.run(stream); });
  MPI_Barrier(MPI_COMM_WORLD);
  CAPTURE(text);
  // Whoever gave up first is missed by its own peers as well: not all of more than two name the first.
  CHECK(all_right(text.find("rank ") != std::string::npos));
  CHECK(some_right(rank != 1 && text.find("rank 1") != std::string::npos));
  // The same while a plan is made.
  text = "rank 1";
  if (rank != 1) text = message_of([&] { twill::global_transpose(team, 4, one.shape, {image.memory()}, options); });
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(all_right(text.find("rank 1") != std::string::npos));
  // Another team goes on.
  const auto next = twill::mpi::make_team(MPI_COMM_WORLD, device);
  CHECK(all_right(support::right_on_rank(next, one, twill::transport::mpi, 1)));
}
