#pragma once

// `twill bench global-transpose`: one array over several devices of this process, or a device of each process of
// mpirun, by each transport, beside the bare exchange of the same bytes and memcpy.

#include <string>
#include <vector>

#include "processes.hpp"
#include "result.hpp"

namespace twill::tool {

/// As the command line has it; empty lists mean the default.
struct team_bench_arguments {
  std::vector<std::string> devices, sizes, types, grids, transports;
  int ranks = 0;  ///< 0: one for each device, or each process
  int reps = 15;
  int ranks_per_node = 0;   ///< 0: a node is a host
  int blocks_per_peer = 0;  ///< of direct; 0: the default
  bool tune = false;
  std::string tuning;
};

/// Measures and checks every case, in all processes. Prints a table of each unless `quiet`.
void run_team_bench(const processes& world, const team_bench_arguments& arguments, bench_report& report, bool quiet);

}  // namespace twill::tool
