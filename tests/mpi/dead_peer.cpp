// A process that dies between two runs: the others say which rank they miss, and end. Needs a launcher that lets them:
// Open MPI's `mpirun --enable-recovery`.

#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <string>

#include <twill/mpi.hpp>
#include <twill/twill.hpp>

namespace {

constexpr int dead = 1;

/// What the call throws; "" when nothing, or no device_fault.
template <class F>
std::string fault_of(F&& call) {
  try {
    call();
  } catch (const twill::error& e) {
    return e.code() == twill::errc::device_fault ? e.what() : "";
  }
  return "";
}

bool is_line_with(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos && text.find('\n') == std::string::npos;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const auto cpu = twill::device::open("cpu");
  const auto team = twill::mpi::make_team(MPI_COMM_WORLD, cpu, std::chrono::seconds(2));
  const auto other = twill::mpi::make_team(MPI_COMM_WORLD, cpu, std::chrono::seconds(2));
  const twill::global_shape shape{{8, 8}, {{size, 1}}, {{1, size}, {1, 0}}};
  twill::buffer<float> in(cpu, 64), out(cpu, 64);
  const twill::stream stream(cpu);
  twill::fill_bytes(stream, in.data(), 0, in.size_bytes());
  twill::global_options options;
  options.timeout = std::chrono::seconds(2);
  twill::global_transpose plan(team, sizeof(float), shape, {{in.data(), out.data()}}, options);
  options.ranks_per_node = 1;  // by messages, though one host has them all
  twill::global_transpose messages(team, sizeof(float), shape, {{in.data(), out.data()}}, options);
  plan.run(stream);
  messages.run(stream);
  if (rank == dead) _exit(0);

  const auto fault_of_runs = [&](twill::global_transpose& of) {
    return fault_of([&] {
      for (int i = 0; i < 100; ++i) of.run(stream);
    });
  };
  const std::string shared = fault_of_runs(plan), run = fault_of_runs(messages);
  // In a run a rank misses whom it waits for first: the dead one, or one that waited for it.
  const std::string made =
      fault_of([&] { twill::global_transpose(other, sizeof(float), shape, {{in.data(), out.data()}}); });
  const bool right = is_line_with(shared, "rank 1 did not come to this run within 2000 ms") &&
                     is_line_with(run, " rank ") && is_line_with(made, "rank 1 did not come");
  std::printf("%s: rank %d: %s | %s | %s\n", right ? "right" : "wrong", rank, shared.c_str(), run.c_str(),
              made.c_str());
  std::fflush(stdout);
  _exit(right ? 0 : 1);  // MPI_Finalize would wait for the dead one
}
