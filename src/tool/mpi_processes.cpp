// The processes that mpirun started, in a tool that is built where there is MPI.

#include <chrono>
#include <cstdlib>
#include <thread>

#include <fmt/core.h>

#include <twill/mpi.hpp>

#include "parse.hpp"
#include "processes.hpp"

namespace twill::tool {
namespace {

class mpi_processes final : public processes {
 public:
  mpi_processes() {
    int level = MPI_THREAD_SINGLE;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    MPI_Comm_dup(MPI_COMM_WORLD, &ends_);
  }
  ~mpi_processes() override {
    MPI_Comm_free(&ends_);
    MPI_Finalize();
  }
  mpi_processes(const mpi_processes&) = delete;
  mpi_processes& operator=(const mpi_processes&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  team make_team(const std::vector<device>& devices) const override {
    if (size_ == 1) return processes::make_team(devices);
    MPI_Comm host = MPI_COMM_NULL;
    int on_host = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host);
    MPI_Comm_rank(host, &on_host);
    MPI_Comm_free(&host);
    return mpi::make_team(MPI_COMM_WORLD, devices[static_cast<std::size_t>(on_host) % devices.size()]);
  }

  void end_by_error(const std::string& text) const override {
    constexpr std::chrono::seconds patience{10};
    const auto end = std::chrono::steady_clock::now() + patience;
    MPI_Request all_end = MPI_REQUEST_NULL;
    MPI_Ibarrier(ends_, &all_end);
    for (int done = 0; done == 0; std::this_thread::sleep_for(std::chrono::milliseconds(1))) {
      MPI_Test(&all_end, &done, MPI_STATUS_IGNORE);
      if (done != 0 || std::chrono::steady_clock::now() < end) continue;
      fmt::print(stderr, "twill: rank {}: {}\n", rank_, text);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
  }

 protected:
  void gather(const void* mine, void* all, std::size_t bytes) const override {
    const int count = static_cast<int>(bytes);
    MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
  }

 private:
  int rank_ = 0, size_ = 1;
  MPI_Comm ends_ = MPI_COMM_NULL;
};

bool launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

/// As the launcher says it.
int launched_size() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* const text = std::getenv(name)) return std::atoi(text);
  }
  return 1;
}

}  // namespace

std::unique_ptr<processes> all_processes() {
  if (!launched()) return std::make_unique<processes>();
  auto world = std::make_unique<mpi_processes>();
  if (world->size() == 1 && launched_size() > 1) {
    refuse(fmt::format("{} processes were started, and this twill sees itself alone", launched_size()),
           "the launcher belongs to another MPI", "start it by the mpirun of the MPI that it was built with");
  }
  return world;
}

}  // namespace twill::tool
