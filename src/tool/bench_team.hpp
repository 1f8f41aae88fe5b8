#pragma once

// `twill bench global-transpose`: one array over several devices of this process, by each transport, beside the bare
// exchange of the same bytes and memcpy.

#include <string>
#include <vector>

#include "result.hpp"

namespace twill::tool {

/// As the command line has it; empty lists mean the default.
struct team_bench_arguments {
  std::vector<std::string> devices, sizes, types, grids, transports;
  int ranks = 0;  ///< 0: one for each device
  int reps = 15;
};

/// Measures and checks every case. Prints a table of each unless `quiet`.
void run_team_bench(const team_bench_arguments& arguments, bench_report& report, bool quiet);

}  // namespace twill::tool
