// The processes that mpirun started, in a tool that is built where there is MPI.

#include <cstdlib>

#include <twill/mpi.hpp>

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
  }
  ~mpi_processes() override { MPI_Finalize(); }
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

 protected:
  void gather(const void* mine, void* all, std::size_t bytes) const override {
    const int count = static_cast<int>(bytes);
    MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, MPI_COMM_WORLD);
  }

 private:
  int rank_ = 0, size_ = 1;
};

bool launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_SIZE"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

}  // namespace

std::unique_ptr<processes> all_processes() {
  if (!launched()) return std::make_unique<processes>();
  return std::make_unique<mpi_processes>();
}

}  // namespace twill::tool
