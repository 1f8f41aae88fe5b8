// One process, in a tool that is built without MPI.

#include <cstdlib>

#include "parse.hpp"
#include "processes.hpp"

namespace twill::tool {

std::unique_ptr<processes> all_processes() {
  bool several = launched_rank() > 0;
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const size = std::getenv(name);
    several = several || (size != nullptr && std::atoi(size) > 1);
  }
  if (several) refuse("this twill runs in one process", "it was built without MPI", "build it where CMake finds MPI");
  return std::make_unique<processes>();
}

}  // namespace twill::tool
