// Tuning, nodes and plans in place between processes: every case runs on all ranks, in the same order.

#include <doctest/doctest.h>

#include <string>
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

int number_of_processes() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

bool everywhere(bool mine) {
  int in = mine ? 1 : 0, out = 0;
  MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return out == 1;
}

// As rank 0 has it.
std::string of_first(std::string text) {
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

}  // namespace

TEST_CASE("processes settle on one choice") {
  const int size = number_of_processes();
  on_each_device([&](const twill::device& device) {
    const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
    const auto one = slab_transpose(size, 130, 140, 8);
    const twill::stream stream(device);
    support::rank_image image(one, team.local_ranks().front(), stream, 0);
    twill::global_options options;
    options.ranks_per_node = 1;  // mixed can be taken as well as mpi
    twill::global_transpose plan(team, one.element_bytes, one.shape, {image.memory()}, options);
    const std::string line = plan.tune(stream, 2);
    CAPTURE(line);
    CHECK(everywhere(!line.empty() && line == of_first(line)));
    CHECK(everywhere(line.find(std::string(": ") + name(plan.via())) != std::string::npos));
    image.fill_output(stream);
    plan.run(stream);
    CHECK(everywhere(image.right(stream)));
    options.tuning = line;
    CHECK(everywhere(support::right_on_rank(team, one, options, 2)));
    const auto other = slab_transpose(size, 130, 141, 8);
    const std::string text = message_of([&] { support::right_on_rank(team, other, options, 1); });
    CAPTURE(text);
    CHECK(everywhere(text.find("rank 0: the saved tuning was measured for a different plan") != std::string::npos));
    CHECK(everywhere(text.find('\n') == std::string::npos));
  });
}

TEST_CASE("each process is a node") {
  const int size = number_of_processes();
  on_each_device([&](const twill::device& device) {
    const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
    twill::global_options options;
    options.via = twill::transport::mixed;
    options.ranks_per_node = 1;
    support::dice random(27);
    for (int i = 0; i < 20; ++i) {
      const auto one = support::random_redistribution(random, size, 3000);
      CAPTURE(one.text());
      REQUIRE(everywhere(support::right_on_rank(team, one, options, 2)));
    }
    CHECK(everywhere(support::right_on_rank(team, slab_transpose(size, 1000, 1001, 4), options, 2)));
    if (device.properties().is_gpu || size == 1) return;
    options.ranks_per_node = 2;
    const std::string text =
        message_of([&] { support::right_on_rank(team, slab_transpose(size, 8, 8, 4), options, 1); });
    CAPTURE(text);
    CHECK(everywhere(text.find("transport mixed does not reach all ranks") != std::string::npos));
    CHECK(everywhere(text.find("share no memory") != std::string::npos));
  });
}

TEST_CASE("processes in place") {
  const int size = number_of_processes();
  on_each_device([&](const twill::device& device) {
    const auto team = twill::mpi::make_team(MPI_COMM_WORLD, device);
    const int rank = team.local_ranks().front();
    const auto one = slab_transpose(size, 40, 40, 8);
    const auto before = rank_memory(one, one.shape.in, rank), after = rank_memory(one, one.shape.out, rank);
    const twill::stream stream(device);
    twill::raw_buffer array(device, before.size());
    const twill::raw_buffer scratch(device, twill::global_transpose_scratch_bytes(8, one.shape, rank));
    twill::upload_bytes(stream, before.data(), array.data(), before.size());
    twill::global_transpose plan(team, 8, one.shape, {{array.data(), array.data(), scratch}});
    const auto found = [&] {
      std::vector<unsigned char> bytes(before.size());
      twill::download_bytes(stream, array.data(), bytes.data(), bytes.size());
      stream.wait();
      return bytes;
    };
    plan.run(stream);
    CHECK(everywhere(found() == after));
    plan.run(stream);  // square: back again
    CHECK(everywhere(found() == before));
  });
}
